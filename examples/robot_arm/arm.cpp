// A planar robot arm with any number of joints: what a movement costs.
//
// A movement is a list of poses, a pose an angle for each joint. The cost has the way of the joints, the gap between the hand and
// the goal in the last pose, and how far links reach into round obstacles, in the poses and at three places between them.
#include <cmath>
#include <vector>

namespace {

struct Point {
  double x, y;
};

// The places of all joints, the hand last.
std::vector<Point> forward(const double* angles, const double* lengths, int joints) {
  std::vector<Point> places{{0, 0}};
  double heading = 0;
  for (int j = 0; j < joints; j++) {
    heading += angles[j];
    Point last = places.back();
    places.push_back({last.x + lengths[j] * std::cos(heading), last.y + lengths[j] * std::sin(heading)});
  }
  return places;
}

// The distance from a point to a link, squared.
double distance2(Point p, Point a, Point b) {
  double dx = b.x - a.x, dy = b.y - a.y, t = ((p.x - a.x) * dx + (p.y - a.y) * dy) / (dx * dx + dy * dy);
  if (t < 0) t = 0;
  if (t > 1) t = 1;
  double x = a.x + t * dx - p.x, y = a.y + t * dy - p.y;
  return x * x + y * y;
}

// obstacles[k] = {x, y, radius}
double collision(const std::vector<Point>& places, const double* obstacles, int count, double margin) {
  double sum = 0;
  for (int k = 0; k < count; k++) {
    const double* o = obstacles + 3 * k;
    for (std::size_t j = 0; j + 1 < places.size(); j++) {
      double depth = o[2] + margin - std::sqrt(distance2({o[0], o[1]}, places[j], places[j + 1]) + 1e-9);
      if (depth > 0) sum += depth * depth;
    }
  }
  return sum;
}

}  // namespace

// angles[t][j] are the poses, the first of which is where the arm stands.
double cost(const double* angles, int poses, int joints, const double* lengths, const double* goal, const double* obstacles, int count,
            double margin) {
  double way = 0, hits = 0;
  std::vector<double> between(joints);
  for (int t = 0; t < poses; t++) {
    const double* pose = angles + t * joints;
    hits += collision(forward(pose, lengths, joints), obstacles, count, margin);
    if (t + 1 == poses) break;
    for (int j = 0; j < joints; j++) way += (pose[joints + j] - pose[j]) * (pose[joints + j] - pose[j]);
    for (int part = 1; part < 4; part++) {
      for (int j = 0; j < joints; j++) between[j] = pose[j] + part * (pose[joints + j] - pose[j]) / 4;
      hits += collision(forward(between.data(), lengths, joints), obstacles, count, margin);
    }
  }
  Point hand = forward(angles + (poses - 1) * joints, lengths, joints).back();
  double x = hand.x - goal[0], y = hand.y - goal[1];
  return poses * way + 1000 * (x * x + y * y) + 200 * hits;
}

// Where joints and hand are, for the picture.
void pose(const double* angles, const double* lengths, int joints, double* places) {
  std::vector<Point> all = forward(angles, lengths, joints);
  for (int j = 0; j <= joints; j++) {
    places[2 * j] = all[j].x;
    places[2 * j + 1] = all[j].y;
  }
}
