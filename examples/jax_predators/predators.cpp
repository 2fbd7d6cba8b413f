// Hares and lynxes (Lotka and Volterra): hares multiply and are eaten, lynxes live on them and die. Classical Runge-Kutta steps.

struct Animals {
  double hares, lynxes;
};

struct Rates {
  double birth, hunting, growth, death;

  Animals change(const Animals& a) const {
    return {(birth - hunting * a.lynxes) * a.hares, (growth * a.hares - death) * a.lynxes};
  }
};

static Animals moved(const Animals& a, const Animals& change, double dt) {
  return {a.hares + dt * change.hares, a.lynxes + dt * change.lynxes};
}

static Animals step(const Animals& a, const Rates& rates, double dt) {
  Animals k1 = rates.change(a);
  Animals k2 = rates.change(moved(a, k1, dt / 2));
  Animals k3 = rates.change(moved(a, k2, dt / 2));
  Animals k4 = rates.change(moved(a, k3, dt));
  return {a.hares + dt / 6 * (k1.hares + 2 * k2.hares + 2 * k3.hares + k4.hares),
          a.lynxes + dt / 6 * (k1.lynxes + 2 * k2.lynxes + 2 * k3.lynxes + k4.lynxes)};
}

// Animals at the end of each of `times` counts, `STEPS` steps of `DT` years apart.
extern "C" void populations(const double* start, const double* rate, int times, double* path) {
  Animals now = {start[0], start[1]};
  const Rates rates = {rate[0], rate[1], rate[2], rate[3]};
  for (int t = 0; t < times; t++) {
    for (int i = 0; i < STEPS; i++) now = step(now, rates, DT);
    path[2 * t] = now.hares;
    path[2 * t + 1] = now.lynxes;
  }
}
