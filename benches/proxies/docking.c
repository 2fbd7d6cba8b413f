// Energies of poses of a small molecule in a protein: each pose turns and moves the molecule, then all pairs of atoms repel, attract by their charges and
// lose water. The kind of miniBUDE: arithmetic decides, with a root for each pair and selections by distance.
#include <math.h>

// A pose is three angles and a shift.
static void place(const double *pose, double turn[3][4]) {
  double sx = sin(pose[0]), cx = cos(pose[0]), sy = sin(pose[1]), cy = cos(pose[1]), sz = sin(pose[2]),
         cz = cos(pose[2]);
  double all[3][4] = {{cy * cz, sx * sy * cz - cx * sz, cx * sy * cz + sx * sz, pose[3]},
                      {cy * sz, sx * sy * sz + cx * cz, cx * sy * sz - sx * cz, pose[4]},
                      {-sy, sx * cy, cx * cy, pose[5]}};
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 4; c++) turn[r][c] = all[r][c];
}

// `force` has radius, hardness, charge, and loss of water for each kind of atom.
static double pair(double distance, const double *a, const double *b, int donors) {
  double radii = a[0] + b[0], gap = distance - radii, energy = 0;
  if (gap < 0) energy += (a[1] + b[1]) * (1 - distance / radii);
  double reach = donors ? 4.0 : 2.0;
  if (gap < reach) energy += a[2] * b[2] * (gap < 0 ? 1.0 : 1 - gap / reach);
  if (gap < 5.5) energy += (a[3] + b[3]) * (gap < 0 ? 1.0 : 1 - gap / 5.5);
  return energy;
}

void docking(const double *pose, const double *ligand, const double *protein, const double *force, const int *of_ligand,
             const int *of_protein, int poses, int small, int large, double *energy) {
#pragma omp parallel for
  for (int p = 0; p < poses; p++) {
    double turn[3][4], sum = 0;
    place(pose + 6 * p, turn);
    for (int i = 0; i < small; i++) {
      const double *from = ligand + 3 * i, *mine = force + 4 * of_ligand[i];
      double at[3];
      for (int r = 0; r < 3; r++)
        at[r] = turn[r][0] * from[0] + turn[r][1] * from[1] + turn[r][2] * from[2] + turn[r][3];
      for (int k = 0; k < large; k++) {
        const double *other = protein + 3 * k;
        double x = at[0] - other[0], y = at[1] - other[1], z = at[2] - other[2];
        sum += pair(sqrt(x * x + y * y + z * z), mine, force + 4 * of_protein[k], of_ligand[i] == of_protein[k]);
      }
    }
    energy[p] = 0.5 * sum;
  }
}
