// A camera that moves and defocuses: each pixel of the photograph is a weighted mean of the scene around it. Beyond its border
// the scene repeats its last pixel.
static int clamped(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

void blur(const float* scene, const float* kernel, int h, int w, int k, float* photo) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      float sum = 0;
      for (int j = 0; j < k; j++)
        for (int i = 0; i < k; i++)
          sum += kernel[j * k + i] * scene[clamped(y + j - k / 2, h) * w + clamped(x + i - k / 2, w)];
      photo[y * w + x] = sum;
    }
}
