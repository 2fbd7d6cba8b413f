"""
Gradients of C, C++ and Fortran functions.

    using FFGrad

    f = enzyme("test.c", "f"; signature = "x[n] -> y[n]")
    y = f(x)                                        # a new array
    f(Duplicated(x, dx), n, Duplicated(y, dy))      # dx += Jᵀ dy, as in Enzyme.jl
    y, back = pullback(f, x)
    dx, = back(dy)

The source is compiled by clang, differentiated by Enzyme, cached and checked by `libffgrad`, whose C ABI this
package calls. Arrays are passed in place.

Pieces: `library.jl` (the C ABI), `json.jl`, `errors.jl`, `activities.jl` (`Const`, `Duplicated`, ...), `slots.jl` (an
array of Julia's as an array of the ABI), `functions.jl` (`enzyme` and calls), `derivatives.jl`, `annotated.jl` (calls
with `Duplicated`).
"""
module FFGrad

using Libdl: Libdl

export enzyme, inplace, gradient, pullback, pushforward, hvp
export Const, Active, Duplicated, DuplicatedNoNeed

include("json.jl")
include("errors.jl")
include("library.jl")
include("activities.jl")
include("slots.jl")
include("functions.jl")
include("derivatives.jl")
include("annotated.jl")

end
