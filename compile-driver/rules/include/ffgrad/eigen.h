/* Plain loops for Eigen's kernels in double and single precision: products, triangular systems, LU, Cholesky and QR factorisations.
 *
 * Eigen's own kernels pack blocks of matrices for the caches and unroll by hand. Differentiated they are thousands of lines for each kind of
 * matrix; these are some ten, do the same arithmetic in another order, and their adjoints vectorise. Included behind each of Eigen's headers, before
 * anything of it is instantiated, of the versions that they were written for (3.4); a program that has Eigen call a BLAS, or defines
 * FFGRAD_EIGEN_KERNELS, has none of it.
 *
 * Source: Golub and Van Loan, "Matrix Computations", 4th edition, 1.1 (products), 3.1 (triangular systems), 3.4.1 (LU with partial
 * pivoting) and 4.2.1 (Cholesky).
 */
#if (defined(EIGEN_CORE_H) || defined(EIGEN_CORE_MODULE_H)) && !defined(FFGRAD_EIGEN_KERNELS) && !defined(EIGEN_USE_BLAS) && !defined(EIGEN_USE_LAPACKE) && !defined(EIGEN_USE_MKL_ALL) && \
    EIGEN_VERSION_AT_LEAST(3, 3, 90) && !EIGEN_VERSION_AT_LEAST(3, 4, 90)
#define FFGRAD_EIGEN_FOR_NUMBERS(what) what(double) what(float)

#ifndef FFGRAD_EIGEN_CORE
#define FFGRAD_EIGEN_CORE
namespace Eigen {
namespace internal {

/* An element of a matrix in memory, by the order that it is stored in. */
template <int Order, typename T, typename Index>
inline T& ffgrad_at(T* matrix, Index stride, Index i, Index j) {
  return Order == RowMajor ? matrix[i * stride + j] : matrix[i + j * stride];
}

/* Elements in memory: that of row i and column j is data[i * row + j * column]. */
template <typename T, typename Index>
struct ffgrad_elements {
  T* data;
  Index row, column;
  T& operator()(Index i, Index j) const { return data[i * row + j * column]; }
};

template <int Order, typename T, typename Index>
inline ffgrad_elements<T, Index> ffgrad_stored(T* data, Index stride) {
  const ffgrad_elements<T, Index> elements = {data, Order == RowMajor ? stride : Index(1), Order == RowMajor ? Index(1) : stride};
  return elements;
}

/* A sum in four parts, which vectorise; their order is the same wherever this is compiled. */
template <typename T, typename Index>
inline T ffgrad_dot(Index size, const T* a, Index step_a, const T* b, Index step_b) {
  T s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  Index k = 0;
  for (; k + 4 <= size; k += 4) {
    s0 += a[k * step_a] * b[k * step_b];
    s1 += a[(k + 1) * step_a] * b[(k + 1) * step_b];
    s2 += a[(k + 2) * step_a] * b[(k + 2) * step_b];
    s3 += a[(k + 3) * step_a] * b[(k + 3) * step_b];
  }
  for (; k < size; ++k) s0 += a[k * step_a] * b[k * step_b];
  return (s0 + s1) + (s2 + s3);
}

/* Adds factor * a b to c, or sets c to it: the inner loop goes along memory. */
template <int OrderA, int OrderB, bool Clears, typename T, typename Index>
inline void ffgrad_multiply(Index rows, Index cols, Index depth, ffgrad_elements<const T, Index> a, ffgrad_elements<const T, Index> b,
                            ffgrad_elements<T, Index> c, T factor) {
  if (OrderA == ColMajor) {
    for (Index j = 0; j < cols; ++j) {
      for (Index i = 0; Clears && i < rows; ++i) c(i, j) = 0;
      for (Index k = 0; k < depth; ++k) {
        const T f = factor * b(k, j);
        for (Index i = 0; i < rows; ++i) c(i, j) += f * a(i, k);
      }
    }
  } else if (OrderB == RowMajor) {
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; Clears && j < cols; ++j) c(i, j) = 0;
      for (Index k = 0; k < depth; ++k) {
        const T f = factor * a(i, k);
        for (Index j = 0; j < cols; ++j) c(i, j) += f * b(k, j);
      }
    }
  } else {
    for (Index j = 0; j < cols; ++j)
      for (Index i = 0; i < rows; ++i) {
        const T sum = ffgrad_dot(depth, &a(i, 0), a.column, &b(0, j), b.row);
        c(i, j) = (Clears ? T(0) : c(i, j)) + factor * sum;
      }
  }
}

/* x := the solution of a x = x, of a triangular a. */
template <int Mode, int Order, typename T, typename Index>
inline void ffgrad_solve(Index size, ffgrad_elements<const T, Index> a, T* x, Index step) {
  for (Index at = 0; at < size; ++at) {
    const Index k = (Mode & Lower) ? at : size - 1 - at;
    const Index first = (Mode & Lower) ? 0 : k + 1, last = (Mode & Lower) ? k : size;
    const Index rest = (Mode & Lower) ? k + 1 : 0, end = (Mode & Lower) ? size : k;
    if (Order == RowMajor) {
      T sum = 0;
      for (Index i = first; i < last; ++i) sum += a(k, i) * x[i * step];
      x[k * step] -= sum;
    }
    if (!(Mode & UnitDiag)) x[k * step] /= a(k, k);
    const T f = x[k * step];
    for (Index i = rest; Order == ColMajor && i < end; ++i) x[i * step] -= f * a(i, k);
  }
}

/* Whether a matrix of type M has its elements, of type T, in memory. */
template <typename M, typename T>
struct ffgrad_is_direct {
  enum { value = is_same<typename traits<M>::Scalar, T>::value && (int(traits<M>::Flags) & DirectAccessBit) != 0 };
};

/* What is done with a product: whether the result is cleared before, and the factor. */
template <typename Action>
struct ffgrad_action {
  enum { known = 0, clears = 0, factor = 0 };
};
#define FFGRAD_EIGEN_ACTIONS(T)                         \
  template <>                                           \
  struct ffgrad_action<assign_op<T, T> > {              \
    enum { known = 1, clears = 1, factor = 1 };         \
  };                                                    \
  template <>                                           \
  struct ffgrad_action<add_assign_op<T, T> > {          \
    enum { known = 1, clears = 0, factor = 1 };         \
  };                                                    \
  template <>                                           \
  struct ffgrad_action<sub_assign_op<T, T> > {          \
    enum { known = 1, clears = 0, factor = -1 };        \
  };
FFGRAD_EIGEN_FOR_NUMBERS(FFGRAD_EIGEN_ACTIONS)
#undef FFGRAD_EIGEN_ACTIONS

/* The elements of a matrix in memory, with the inner stride as a constant where that is one. */
template <typename T, typename M>
inline ffgrad_elements<T, Index> ffgrad_view(const M& m) {
  const Index inner = int(inner_stride_at_compile_time<M>::ret) == 1 ? 1 : m.innerStride();
  const bool by_rows = (int(traits<M>::Flags) & RowMajorBit) != 0;
  const ffgrad_elements<T, Index> elements = {const_cast<T*>(m.data()), by_rows ? m.outerStride() : inner,
                                              by_rows ? inner : m.outerStride()};
  return elements;
}

template <typename M>
struct ffgrad_order {
  enum { value = (int(traits<M>::Flags) & RowMajorBit) != 0 ? RowMajor : ColMajor };
};

template <bool Clears, typename C, typename A, typename B>
inline void ffgrad_product(C& c, const A& a, const B& b, typename traits<C>::Scalar factor) {
  typedef typename traits<C>::Scalar T;
  ffgrad_multiply<ffgrad_order<A>::value, ffgrad_order<B>::value, Clears>(a.rows(), b.cols(), a.cols(), ffgrad_view<const T>(a),
                                                                          ffgrad_view<const T>(b), ffgrad_view<T>(c), factor);
}

/* Eigen computes products of small matrices coefficient by coefficient, and takes all for small (eigen_settings.h). Those of matrices in memory come here
 * instead. */
template <typename C, typename A, typename B, typename Action>
inline typename enable_if<ffgrad_action<Action>::known && (is_same<typename traits<C>::Scalar, double>::value ||
                                                           is_same<typename traits<C>::Scalar, float>::value) &&
                              ffgrad_is_direct<C, typename traits<C>::Scalar>::value &&
                              ffgrad_is_direct<A, typename traits<C>::Scalar>::value &&
                              ffgrad_is_direct<B, typename traits<C>::Scalar>::value,
                          void>::type
call_restricted_packet_assignment_no_alias(C& result, const Product<A, B, LazyProduct>& product, const Action&) {
  resize_if_allowed(result, product, Action());
  ffgrad_product<bool(ffgrad_action<Action>::clears)>(result, product.lhs(), product.rhs(), int(ffgrad_action<Action>::factor));
}

/* The same with a factor. */
template <typename C, typename A, typename B, typename Action, typename Factors>
inline typename enable_if<ffgrad_action<Action>::known && (is_same<typename traits<C>::Scalar, double>::value ||
                                                           is_same<typename traits<C>::Scalar, float>::value) &&
                              ffgrad_is_direct<C, typename traits<C>::Scalar>::value &&
                              ffgrad_is_direct<A, typename traits<C>::Scalar>::value &&
                              ffgrad_is_direct<B, typename traits<C>::Scalar>::value,
                          void>::type
call_restricted_packet_assignment_no_alias(
    C& result,
    const CwiseBinaryOp<scalar_product_op<typename traits<C>::Scalar, typename traits<C>::Scalar>,
                        const CwiseNullaryOp<scalar_constant_op<typename traits<C>::Scalar>, Factors>,
                        const Product<A, B, LazyProduct> >& scaled,
    const Action&) {
  resize_if_allowed(result, scaled, Action());
  ffgrad_product<bool(ffgrad_action<Action>::clears)>(result, scaled.rhs().lhs(), scaled.rhs().rhs(),
                                                      int(ffgrad_action<Action>::factor) * scaled.lhs().functor().m_other);
}

#define FFGRAD_EIGEN_PRODUCTS(T)                                                                                              \
  template <typename Index, int OrderA, bool ConjA, int OrderB, bool ConjB, int Step>                                         \
  struct general_matrix_matrix_product<Index, T, OrderA, ConjA, T, OrderB, ConjB, ColMajor, Step> {                           \
    typedef gebp_traits<T, T> Traits;                                                                                         \
    template <typename... More>                                                                                               \
    static void run(Index rows, Index cols, Index depth, const T* a, Index stride_a, const T* b, Index stride_b, T* c,        \
                    Index step_c, Index stride_c, T factor, More&&...) {                                                      \
      const ffgrad_elements<T, Index> to = {c, step_c, stride_c};                                                             \
      ffgrad_multiply<OrderA, OrderB, false>(rows, cols, depth, ffgrad_stored<OrderA>(a, stride_a),                           \
                                             ffgrad_stored<OrderB>(b, stride_b), to, factor);                                 \
    }                                                                                                                         \
  };                                                                                                                          \
  template <typename Index, typename A, bool ConjA, typename X, bool ConjX, int Version>                                      \
  struct general_matrix_vector_product<Index, T, A, ColMajor, ConjA, T, X, ConjX, Version> {                                  \
    static void run(Index rows, Index cols, const A& a, const X& x, T* y, Index step, T factor) {                             \
      for (Index j = 0; j < cols; ++j) {                                                                                      \
        const T f = factor * x(j, 0);                                                                                         \
        for (Index i = 0; i < rows; ++i) y[i * step] += f * a(i, j);                                                          \
      }                                                                                                                       \
    }                                                                                                                         \
  };                                                                                                                          \
  template <typename Index, typename A, bool ConjA, typename X, bool ConjX, int Version>                                      \
  struct general_matrix_vector_product<Index, T, A, RowMajor, ConjA, T, X, ConjX, Version> {                                  \
    static void run(Index rows, Index cols, const A& a, const X& x, T* y, Index step, T factor) {                             \
      for (Index i = 0; i < rows; ++i) {                                                                                      \
        T sum = 0;                                                                                                            \
        for (Index j = 0; j < cols; ++j) sum += a(i, j) * x(j, 0);                                                            \
        y[i * step] += factor * sum;                                                                                          \
      }                                                                                                                       \
    }                                                                                                                         \
  };                                                                                                                          \
  template <typename Index, int Mode, bool Conj, int Order, int Step>                                                         \
  struct triangular_solve_matrix<T, Index, OnTheLeft, Mode, Conj, Order, ColMajor, Step> {                                    \
    template <typename... More>                                                                                               \
    static void run(Index size, Index others, const T* a, Index stride_a, T* x, Index step, Index stride, More&&...) {        \
      for (Index c = 0; c < others; ++c)                                                                                      \
        ffgrad_solve<Mode, Order>(size, ffgrad_stored<Order>(a, stride_a), x + c * stride, step);                             \
    }                                                                                                                         \
  };                                                                                                                          \
  template <typename Index, int Mode, bool Conj, int Order, int Step>                                                         \
  struct triangular_solve_matrix<T, Index, OnTheRight, Mode, Conj, Order, ColMajor, Step> {                                   \
    template <typename... More>                                                                                               \
    static void run(Index size, Index others, const T* a, Index stride_a, T* x, Index step, Index stride, More&&...) {        \
      for (Index at = 0; at < size; ++at) {                                                                                   \
        const Index k = (Mode & Lower) ? size - 1 - at : at;                                                                  \
        for (Index i = (Mode & Lower) ? k + 1 : 0; i < ((Mode & Lower) ? size : k); ++i) {                                    \
          const T f = ffgrad_at<Order>(a, stride_a, i, k);                                                                    \
          for (Index r = 0; r < others; ++r) x[r * step + k * stride] -= f * x[r * step + i * stride];                        \
        }                                                                                                                     \
        if (!(Mode & UnitDiag)) {                                                                                             \
          const T pivot = ffgrad_at<Order>(a, stride_a, k, k);                                                                \
          for (Index r = 0; r < others; ++r) x[r * step + k * stride] /= pivot;                                               \
        }                                                                                                                     \
      }                                                                                                                       \
    }                                                                                                                         \
  };                                                                                                                          \
  template <typename Index, int Mode, bool Conj>                                                                              \
  struct triangular_solve_vector<T, T, Index, OnTheLeft, Mode, Conj, ColMajor> {                                              \
    static void run(Index size, const T* a, Index stride, T* x) {                                                             \
      ffgrad_solve<Mode, ColMajor>(size, ffgrad_stored<ColMajor>(a, stride), x, Index(1));                                    \
    }                                                                                                                         \
  };                                                                                                                          \
  template <typename Index, int Mode, bool Conj>                                                                              \
  struct triangular_solve_vector<T, T, Index, OnTheLeft, Mode, Conj, RowMajor> {                                              \
    static void run(Index size, const T* a, Index stride, T* x) {                                                             \
      ffgrad_solve<Mode, RowMajor>(size, ffgrad_stored<RowMajor>(a, stride), x, Index(1));                                    \
    }                                                                                                                         \
  };
FFGRAD_EIGEN_FOR_NUMBERS(FFGRAD_EIGEN_PRODUCTS)
#undef FFGRAD_EIGEN_PRODUCTS

}  // namespace internal
}  // namespace Eigen
#endif

#if defined(EIGEN_CHOLESKY_MODULE_H) && !defined(FFGRAD_EIGEN_CHOLESKY)
#define FFGRAD_EIGEN_CHOLESKY
namespace Eigen {
namespace internal {
#define FFGRAD_EIGEN_LLT(T)                                                                         \
  template <>                                                                                       \
  struct llt_inplace<T, Lower> {                                                                    \
    template <typename Matrix>                                                                      \
    static Index unblocked(Matrix& a) {                                                             \
      const Index size = a.rows();                                                                  \
      for (Index k = 0; k < size; ++k) {                                                            \
        for (Index j = 0; j < k; ++j) {                                                             \
          const T f = a.coeff(k, j);                                                                \
          for (Index i = k; i < size; ++i) a.coeffRef(i, k) -= f * a.coeff(i, j);                   \
        }                                                                                           \
        const T square = a.coeff(k, k);                                                             \
        if (square <= T(0)) return k;                                                               \
        const T root = std::sqrt(square);                                                           \
        a.coeffRef(k, k) = root;                                                                    \
        for (Index i = k + 1; i < size; ++i) a.coeffRef(i, k) /= root;                              \
      }                                                                                             \
      return -1;                                                                                    \
    }                                                                                               \
    template <typename Matrix>                                                                      \
    static Index blocked(Matrix& a) {                                                               \
      return unblocked(a);                                                                          \
    }                                                                                               \
    template <typename Matrix, typename Vector>                                                     \
    static Index rankUpdate(Matrix& a, const Vector& x, const T& sigma) {                           \
      return llt_rank_update_lower(a, x, sigma);                                                    \
    }                                                                                               \
  };
FFGRAD_EIGEN_FOR_NUMBERS(FFGRAD_EIGEN_LLT)
#undef FFGRAD_EIGEN_LLT
}  // namespace internal
}  // namespace Eigen
#endif

#if defined(EIGEN_LU_MODULE_H) && !defined(FFGRAD_EIGEN_LU)
#define FFGRAD_EIGEN_LU
namespace Eigen {
namespace internal {
#define FFGRAD_EIGEN_LU_OF(T)                                                                                               \
  template <int Order, typename Place, int Size>                                                                            \
  struct partial_lu_impl<T, Order, Place, Size> {                                                                           \
    template <typename... More>                                                                                             \
    static Index blocked_lu(Index rows, Index cols, T* a, Index stride, Place* places, Place& swaps, More&&...) {           \
      const Index size = rows < cols ? rows : cols;                                                                         \
      Index zero = -1;                                                                                                      \
      swaps = 0;                                                                                                            \
      for (Index k = 0; k < size; ++k) {                                                                                    \
        Index best = k;                                                                                                     \
        for (Index i = k + 1; i < rows; ++i)                                                                                \
          if (std::abs(ffgrad_at<Order>(a, stride, i, k)) > std::abs(ffgrad_at<Order>(a, stride, best, k))) best = i;       \
        places[k] = Place(best);                                                                                            \
        if (ffgrad_at<Order>(a, stride, best, k) != T(0)) {                                                                 \
          if (best != k) {                                                                                                  \
            for (Index j = 0; j < cols; ++j) {                                                                              \
              const T kept = ffgrad_at<Order>(a, stride, k, j);                                                             \
              ffgrad_at<Order>(a, stride, k, j) = ffgrad_at<Order>(a, stride, best, j);                                     \
              ffgrad_at<Order>(a, stride, best, j) = kept;                                                                  \
            }                                                                                                               \
            ++swaps;                                                                                                        \
          }                                                                                                                 \
          const T pivot = ffgrad_at<Order>(a, stride, k, k);                                                                \
          for (Index i = k + 1; i < rows; ++i) ffgrad_at<Order>(a, stride, i, k) /= pivot;                                  \
        } else if (zero == -1) {                                                                                            \
          zero = k;                                                                                                         \
        }                                                                                                                   \
        for (Index outer = k + 1; outer < (Order == RowMajor ? rows : cols); ++outer)                                       \
          for (Index inner = k + 1; inner < (Order == RowMajor ? cols : rows); ++inner) {                                   \
            const Index i = Order == RowMajor ? outer : inner, j = Order == RowMajor ? inner : outer;                       \
            ffgrad_at<Order>(a, stride, i, j) -= ffgrad_at<Order>(a, stride, i, k) * ffgrad_at<Order>(a, stride, k, j);     \
          }                                                                                                                 \
      }                                                                                                                     \
      return zero;                                                                                                          \
    }                                                                                                                       \
  };
FFGRAD_EIGEN_FOR_NUMBERS(FFGRAD_EIGEN_LU_OF)
#undef FFGRAD_EIGEN_LU_OF
}  // namespace internal
}  // namespace Eigen
#endif

#if defined(EIGEN_QR_MODULE_H) && !defined(FFGRAD_EIGEN_QR)
#define FFGRAD_EIGEN_QR
namespace Eigen {
namespace internal {
#define FFGRAD_EIGEN_QR_OF(T)                                                                    \
  template <typename Matrix, typename Factors, bool Inner>                                       \
  struct householder_qr_inplace_blocked<Matrix, Factors, T, Inner> {                             \
    static void run(Matrix& a, Factors& factors, Index = 32, T* memory = nullptr) {              \
      householder_qr_inplace_unblocked(a, factors, memory);                                      \
    }                                                                                            \
  };
FFGRAD_EIGEN_FOR_NUMBERS(FFGRAD_EIGEN_QR_OF)
#undef FFGRAD_EIGEN_QR_OF
}  // namespace internal
}  // namespace Eigen
#endif

#if defined(EIGEN_SPARSE_LU_H) && !defined(FFGRAD_EIGEN_SPARSE_LU)
#define FFGRAD_EIGEN_SPARSE_LU
namespace Eigen {
namespace internal {
#define FFGRAD_EIGEN_SPARSE_LU_OF(T)                                                                             \
  template <>                                                                                                    \
  inline void sparselu_gemm<T>(Index m, Index n, Index d, const T* a, Index stride_a, const T* b, Index stride_b, T* c, \
                               Index stride_c) {                                                                 \
    ffgrad_multiply<ColMajor, ColMajor, false>(m, n, d, ffgrad_stored<ColMajor>(a, stride_a),                    \
                                               ffgrad_stored<ColMajor>(b, stride_b),                             \
                                               ffgrad_stored<ColMajor>(c, stride_c), T(1));                      \
  }
FFGRAD_EIGEN_FOR_NUMBERS(FFGRAD_EIGEN_SPARSE_LU_OF)
#undef FFGRAD_EIGEN_SPARSE_LU_OF
}  // namespace internal
}  // namespace Eigen
#endif
#undef FFGRAD_EIGEN_FOR_NUMBERS
#endif
