// A local struct updated through a pointer: a damped oscillator, leapfrog steps.
typedef struct {
  double position, velocity;
  double stiffness, damping;
} oscillator;

static void kick(oscillator* o, double dt) {
  o->velocity += dt * (-o->stiffness * o->position - o->damping * o->velocity);
}

static void drift(oscillator* o, double dt) {
  o->position += dt * o->velocity;
}

// y: position and velocity after 20 steps, for each start in x.
void oscillate(const double* x, double stiffness, double damping, int n, double* y) {
  for (int i = 0; i < n; i++) {
    oscillator o = {x[2 * i], x[2 * i + 1], stiffness, damping};
    for (int step = 0; step < 20; step++) {
      kick(&o, 0.025);
      drift(&o, 0.05);
      kick(&o, 0.025);
    }
    y[2 * i] = o.position;
    y[2 * i + 1] = o.velocity;
  }
}
