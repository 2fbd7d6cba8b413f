// A pixel a thread: light absorbed along a ray through a cloud of blobs, left early where hardly any is left.
__global__ void march(const double *blobs, double *image, int count, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c >= cols || r >= rows) return;
  double px = (c + 0.5) / cols, py = (r + 0.5) / rows, light = 1.0;
  for (int step = 0; step < 12; step++) {
    double pz = (step + 0.5) / 12, density = 0.0;
    for (int b = 0; b < count; b++) {
      const double *blob = blobs + 4 * b;
      double d = norm3d(px - blob[0], py - blob[1], pz - blob[2]);
      density += exp(-d * d / (blob[3] * blob[3]));
    }
    light *= exp(-0.4 * density);
    if (light < 1e-6) break;
  }
  image[r * cols + c] = light;
}
