// A small value class with operators and methods: Lennard-Jones energy of a cluster.
namespace {

class Vec3 {
 public:
  Vec3(double x, double y, double z) : x_(x), y_(y), z_(z) {}
  Vec3 operator-(const Vec3& o) const { return Vec3(x_ - o.x_, y_ - o.y_, z_ - o.z_); }
  double norm2() const { return x_ * x_ + y_ * y_ + z_ * z_; }

 private:
  double x_, y_, z_;
};

Vec3 atom(const double* r, int i) { return Vec3(r[3 * i], r[3 * i + 1], r[3 * i + 2]); }

}  // namespace

extern "C" double lennard_jones(const double* r, int n) {
  double e = 0.0;
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) {
      double s2 = 1.0 / (0.5 + (atom(r, i) - atom(r, j)).norm2());  // softened
      double s6 = s2 * s2 * s2;
      e += 4.0 * (s6 * s6 - s6);
    }
  return e;
}
