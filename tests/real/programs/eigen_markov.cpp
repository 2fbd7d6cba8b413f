// A Markov chain in continuous time: the exponential of its matrix of rates.
#include <unsupported/Eigen/MatrixFunctions>
#include <Eigen/Dense>
double markov_chain(const double* q, double t) { Eigen::MatrixXd Q = Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(q, 3, 3); for (int i = 0; i < 3; ++i) { Q(i, i) = 0; Q(i, i) = -Q.row(i).sum(); } Eigen::MatrixXd P = (Q * t).exp(); Eigen::VectorXd p = Eigen::VectorXd::Unit(3, 0); return std::log((p.transpose() * P)(2)) + P.trace(); }
