// The docking energies as a kernel, a thread for each pose.
__device__ double pair(double distance, const double *a, const double *b, bool donors) {
  double radii = a[0] + b[0], gap = distance - radii, energy = 0;
  if (gap < 0) energy += (a[1] + b[1]) * (1 - distance / radii);
  double reach = donors ? 4.0 : 2.0;
  if (gap < reach) energy += a[2] * b[2] * (gap < 0 ? 1.0 : 1 - gap / reach);
  if (gap < 5.5) energy += (a[3] + b[3]) * (gap < 0 ? 1.0 : 1 - gap / 5.5);
  return energy;
}

__global__ void docking(const double *poses, const double *ligand, const double *protein, const double *force,
                        const int *of_ligand, const int *of_protein, int n, int small, int large, double *energy) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= n) return;
  const double *pose = poses + 6 * p;
  double sx, cx, sy, cy, sz, cz, sum = 0;
  sincos(pose[0], &sx, &cx);
  sincos(pose[1], &sy, &cy);
  sincos(pose[2], &sz, &cz);
  double turn[3][3] = {{cy * cz, sx * sy * cz - cx * sz, cx * sy * cz + sx * sz},
                       {cy * sz, sx * sy * sz + cx * cz, cx * sy * sz - sx * cz},
                       {-sy, sx * cy, cx * cy}};
  for (int i = 0; i < small; i++) {
    double at[3];
    for (int r = 0; r < 3; r++) {
      at[r] = pose[3 + r];
      for (int c = 0; c < 3; c++) at[r] += turn[r][c] * ligand[3 * i + c];
    }
    for (int k = 0; k < large; k++) {
      double x = at[0] - protein[3 * k], y = at[1] - protein[3 * k + 1], z = at[2] - protein[3 * k + 2];
      sum += pair(sqrt(x * x + y * y + z * z), force + 4 * of_ligand[i], force + 4 * of_protein[k],
                  of_ligand[i] == of_protein[k]);
    }
  }
  energy[p] = 0.5 * sum;
}
