// Steps of Lagrangian gas dynamics on an unstructured mesh of hexahedra: nodes move with the gas, elements gather from their eight nodes and give them forces.
// The kind of LULESH: pressure, artificial viscosity, damping of the hourglass modes, small local matrices in each element.
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CORNERS = 8, MODES = 4 };
static const double SIDE[CORNERS][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                        {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
static const double MODE[MODES][CORNERS] = {{1, 1, -1, -1, -1, -1, 1, 1},
                                            {1, -1, -1, 1, -1, 1, 1, -1},
                                            {1, -1, 1, -1, 1, -1, 1, -1},
                                            {-1, 1, -1, 1, 1, -1, 1, -1}};

static void gather(const double *field, const int *corner, double local[CORNERS][3]) {
  for (int a = 0; a < CORNERS; a++)
    for (int d = 0; d < 3; d++) local[a][d] = field[3 * corner[a] + d];
}

// How the volume changes with each corner, and the volume, from the Jacobian in the middle.
static double volume_slope(double x[CORNERS][3], double slope[CORNERS][3]) {
  double jacobian[3][3] = {{0}}, cofactor[3][3];
  for (int a = 0; a < CORNERS; a++)
    for (int k = 0; k < 3; k++)
      for (int d = 0; d < 3; d++) jacobian[k][d] += 0.125 * SIDE[a][k] * x[a][d];
  for (int k = 0; k < 3; k++)
    for (int d = 0; d < 3; d++) {
      const double *next = jacobian[(k + 1) % 3], *last = jacobian[(k + 2) % 3];
      cofactor[k][d] = next[(d + 1) % 3] * last[(d + 2) % 3] - next[(d + 2) % 3] * last[(d + 1) % 3];
    }
  double determinant = 0;
  for (int d = 0; d < 3; d++) determinant += jacobian[0][d] * cofactor[0][d];
  for (int a = 0; a < CORNERS; a++)
    for (int d = 0; d < 3; d++) {
      slope[a][d] = 0;
      for (int k = 0; k < 3; k++) slope[a][d] += SIDE[a][k] * cofactor[k][d];
    }
  return 8 * determinant;
}

// Forces against the modes that change no volume.
static void hourglass(double x[CORNERS][3], double v[CORNERS][3], double slope[CORNERS][3], double volume,
                      double strength, double force[CORNERS][3]) {
  for (int m = 0; m < MODES; m++) {
    double shape[CORNERS], along[3] = {0}, speed[3] = {0};
    for (int a = 0; a < CORNERS; a++)
      for (int d = 0; d < 3; d++) along[d] += MODE[m][a] * x[a][d];
    for (int a = 0; a < CORNERS; a++) {
      shape[a] = MODE[m][a];
      for (int d = 0; d < 3; d++) shape[a] -= slope[a][d] * along[d] / volume;
    }
    for (int a = 0; a < CORNERS; a++)
      for (int d = 0; d < 3; d++) speed[d] += shape[a] * v[a][d];
    for (int a = 0; a < CORNERS; a++)
      for (int d = 0; d < 3; d++) force[a][d] -= strength * shape[a] * speed[d];
  }
}

// An element's force on its corners, and the power of that force. `gas` is the ratio of heats less 1, two viscosities, and the damping.
static double element(double x[CORNERS][3], double v[CORNERS][3], double mass, double energy, const double *gas,
                      double force[CORNERS][3]) {
  double slope[CORNERS][3], growth = 0, power = 0;
  double volume = volume_slope(x, slope);
  for (int a = 0; a < CORNERS; a++)
    for (int d = 0; d < 3; d++) growth += slope[a][d] * v[a][d];
  double density = mass / volume, pressure = gas[0] * density * energy, length = cbrt(volume);
  double sound = sqrt((1 + gas[0]) * pressure / density), rate = growth / volume * length, push = pressure;
  if (rate < 0) push += density * rate * (gas[1] * rate - gas[2] * sound);
  for (int a = 0; a < CORNERS; a++)
    for (int d = 0; d < 3; d++) force[a][d] = push * slope[a][d];
  hourglass(x, v, slope, volume, gas[3] * density * sound * length * length, force);
  for (int a = 0; a < CORNERS; a++)
    for (int d = 0; d < 3; d++) power += force[a][d] * v[a][d];
  return power;
}

// The elements alone: each gathers from its nodes and adds its forces to theirs.
void forces(const double *position, const double *velocity, const double *energy, const double *mass,
            const double *gas, const int *corner, int nodes, int elements, double *force) {
  memset(force, 0, 3 * nodes * sizeof(double));
#pragma omp parallel for
  for (int e = 0; e < elements; e++) {
    double x[CORNERS][3], v[CORNERS][3], f[CORNERS][3];
    gather(position, corner + CORNERS * e, x);
    gather(velocity, corner + CORNERS * e, v);
    element(x, v, mass[e], energy[e], gas, f);
    for (int a = 0; a < CORNERS; a++)
      for (int d = 0; d < 3; d++) {
#pragma omp atomic
        force[3 * corner[CORNERS * e + a] + d] += f[a][d];
      }
  }
}

// Whole steps. Elements write the forces on their corners apart; `first` and `touching` name the corners that belong to each node, which sums them.
void hydro(double *position, double *velocity, double *energy, const double *mass, const double *weight,
           const double *gas, const int *corner, const int *first, const int *touching, int nodes, int elements,
           int steps, double dt) {
  double *force = malloc(3 * CORNERS * elements * sizeof(double));
  for (int t = 0; t < steps; t++) {
#pragma omp parallel for
    for (int e = 0; e < elements; e++) {
      double x[CORNERS][3], v[CORNERS][3], f[CORNERS][3];
      gather(position, corner + CORNERS * e, x);
      gather(velocity, corner + CORNERS * e, v);
      energy[e] -= dt * element(x, v, mass[e], energy[e], gas, f) / mass[e];
      memcpy(force + 3 * CORNERS * e, f, sizeof f);
    }
#pragma omp parallel for
    for (int n = 0; n < nodes; n++)
      for (int d = 0; d < 3; d++) {
        double sum = 0;
        for (int k = first[n]; k < first[n + 1]; k++) sum += force[3 * touching[k] + d];
        velocity[3 * n + d] += dt * sum / weight[n];
        position[3 * n + d] += dt * velocity[3 * n + d];
      }
  }
  free(force);
}
