# Gradient descent with momentum on an objective in C, without a line of derivative code.
#
#     julia --project=julia examples/julia/descent.jl

using FFGrad

const SOURCE = joinpath(@__DIR__, "..", "c", "valley.c")

function descend(f, x; steps = 50_000, rate = 2e-4, inertia = 0.95)
    slope, momentum = zero(x), zero(x)
    for step in 1:steps
        fill!(slope, 0)
        f(Duplicated(x, slope))                 # slope += df/dx, as in Enzyme.jl
        maximum(abs, slope) < 1e-8 && return step
        @. momentum = inertia * momentum - rate * slope
        x .+= momentum
    end
    return steps
end

valley = enzyme(SOURCE, "valley", "x[n] -> return")
x = [-1.2, 1.0, -1.2, 1.0]
steps = descend(valley, x)
println("minimum after $steps steps: f = $(valley(x)) at $(round.(x; digits = 6))")

# The curvature there, column by column, from Hessian-vector products.
columns = [hvp(valley, x, Float64.((1:4) .== i)) for i in 1:4]
hessian = reduce(hcat, columns)
println("largest asymmetry of the Hessian: ", maximum(abs, hessian - hessian'))
@assert valley(x) < 1e-12
