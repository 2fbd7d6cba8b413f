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

/* c += factor * a b, columns of c in the outer loop. */
template <int OrderA, int OrderB, typename T, typename Index>
inline void ffgrad_multiply(Index rows, Index cols, Index depth, const T* a, Index stride_a, const T* b, Index stride_b, T* c,
                            Index step_c, Index stride_c, T factor) {
  for (Index j = 0; j < cols; ++j) {
    if (OrderA == RowMajor) {
      for (Index i = 0; i < rows; ++i) {
        T sum = 0;
        for (Index k = 0; k < depth; ++k) sum += a[i * stride_a + k] * ffgrad_at<OrderB>(b, stride_b, k, j);
        c[i * step_c + j * stride_c] += factor * sum;
      }
    } else {
      for (Index k = 0; k < depth; ++k) {
        const T f = factor * ffgrad_at<OrderB>(b, stride_b, k, j);
        for (Index i = 0; i < rows; ++i) c[i * step_c + j * stride_c] += f * a[i + k * stride_a];
      }
    }
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

/* Elements in memory, with the inner stride as a constant where that is one. */
template <typename M>
struct ffgrad_view {
  typedef typename traits<M>::Scalar T;
  const T* data;
  Index row, column;
  explicit ffgrad_view(const M& m) : data(m.data()) {
    const Index inner = int(inner_stride_at_compile_time<M>::ret) == 1 ? 1 : m.innerStride();
    const bool by_rows = (int(traits<M>::Flags) & RowMajorBit) != 0;
    row = by_rows ? m.outerStride() : inner;
    column = by_rows ? inner : m.outerStride();
  }
};

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

/* Adds a product to a matrix, or sets it: the inner loop goes along memory. */
template <bool Clears, typename C, typename A, typename B>
inline void ffgrad_product(C& result, const A& left, const B& right, typename traits<C>::Scalar factor) {
  typedef typename traits<C>::Scalar T;
  const ffgrad_view<C> to(result);
  const ffgrad_view<A> a(left);
  const ffgrad_view<B> b(right);
  T* c = const_cast<T*>(to.data);
  const Index rows = left.rows(), cols = right.cols(), depth = left.cols();
  if ((int(traits<A>::Flags) & RowMajorBit) == 0) {
    for (Index j = 0; j < cols; ++j) {
      for (Index i = 0; Clears && i < rows; ++i) c[i * to.row + j * to.column] = 0;
      for (Index k = 0; k < depth; ++k) {
        const T f = factor * b.data[k * b.row + j * b.column];
        for (Index i = 0; i < rows; ++i) c[i * to.row + j * to.column] += f * a.data[i * a.row + k * a.column];
      }
    }
  } else if ((int(traits<B>::Flags) & RowMajorBit) != 0) {
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; Clears && j < cols; ++j) c[i * to.row + j * to.column] = 0;
      for (Index k = 0; k < depth; ++k) {
        const T f = factor * a.data[i * a.row + k * a.column];
        for (Index j = 0; j < cols; ++j) c[i * to.row + j * to.column] += f * b.data[k * b.row + j * b.column];
      }
    }
  } else {
    for (Index j = 0; j < cols; ++j)
      for (Index i = 0; i < rows; ++i) {
        const T sum = ffgrad_dot(depth, a.data + i * a.row, a.column, b.data + j * b.column, b.row);
        T& place = c[i * to.row + j * to.column];
        place = (Clears ? T(0) : place) + factor * sum;
      }
  }
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
      ffgrad_multiply<OrderA, OrderB>(rows, cols, depth, a, stride_a, b, stride_b, c, step_c, stride_c, factor);              \
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
      for (Index c = 0; c < others; ++c) {                                                                                    \
        for (Index at = 0; at < size; ++at) {                                                                                 \
          const Index k = (Mode & Lower) ? at : size - 1 - at;                                                                \
          if (!(Mode & UnitDiag)) x[k * step + c * stride] /= ffgrad_at<Order>(a, stride_a, k, k);                            \
          const T f = x[k * step + c * stride];                                                                               \
          for (Index i = (Mode & Lower) ? k + 1 : 0; i < ((Mode & Lower) ? size : k); ++i)                                    \
            x[i * step + c * stride] -= f * ffgrad_at<Order>(a, stride_a, i, k);                                              \
        }                                                                                                                     \
      }                                                                                                                       \
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
      for (Index at = 0; at < size; ++at) {                                                                                   \
        const Index k = (Mode & Lower) ? at : size - 1 - at;                                                                  \
        if (!(Mode & UnitDiag)) x[k] /= a[k + k * stride];                                                                    \
        const T f = x[k];                                                                                                     \
        for (Index i = (Mode & Lower) ? k + 1 : 0; i < ((Mode & Lower) ? size : k); ++i) x[i] -= f * a[i + k * stride];       \
      }                                                                                                                       \
    }                                                                                                                         \
  };                                                                                                                          \
  template <typename Index, int Mode, bool Conj>                                                                              \
  struct triangular_solve_vector<T, T, Index, OnTheLeft, Mode, Conj, RowMajor> {                                              \
    static void run(Index size, const T* a, Index stride, T* x) {                                                             \
      for (Index at = 0; at < size; ++at) {                                                                                   \
        const Index i = (Mode & Lower) ? at : size - 1 - at;                                                                  \
        T sum = 0;                                                                                                            \
        for (Index k = (Mode & Lower) ? 0 : i + 1; k < ((Mode & Lower) ? i : size); ++k) sum += a[i * stride + k] * x[k];     \
        x[i] -= sum;                                                                                                          \
        if (!(Mode & UnitDiag)) x[i] /= a[i * stride + i];                                                                    \
      }                                                                                                                       \
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
        if (!(square > T(0))) return k;                                                             \
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
        if (std::abs(ffgrad_at<Order>(a, stride, best, k)) > T(0)) {                                                        \
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
    ffgrad_multiply<ColMajor, ColMajor>(m, n, d, a, stride_a, b, stride_b, c, Index(1), stride_c, T(1));         \
  }
FFGRAD_EIGEN_FOR_NUMBERS(FFGRAD_EIGEN_SPARSE_LU_OF)
#undef FFGRAD_EIGEN_SPARSE_LU_OF
}  // namespace internal
}  // namespace Eigen
#endif
#undef FFGRAD_EIGEN_FOR_NUMBERS
#endif
