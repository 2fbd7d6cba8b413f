# Enzyme.jl's annotations in calls, and explicit rules. UNTESTED: no package registry for Julia can be reached where ffgrad is tested.
#
# Without a rule Enzyme.jl would look through the `ccall` of a pointer and give a wrong derivative without an error
# (EnzymeAD/Enzyme.jl#2452), so a rule must exist even where it only refuses.
module FFGradEnzymeCoreExt

using EnzymeCore: EnzymeCore, EnzymeRules
using FFGrad: FFGrad, Enzyme, InPlace

own(x) = x
own(x::EnzymeCore.Const) = FFGrad.Const(x.val)
own(x::EnzymeCore.Active) = FFGrad.Active(x.val)
own(x::EnzymeCore.Duplicated) = FFGrad.Duplicated(x.val, x.dval)
own(x::EnzymeCore.DuplicatedNoNeed) = FFGrad.DuplicatedNoNeed(x.val, x.dval)

# f(EnzymeCore.Duplicated(x, dx), ...) means what it means with FFGrad's own words.
(f::Enzyme)(first::EnzymeCore.Annotation, rest...; options...) = f(own(first), map(own, rest)...; options...)
(f::Enzyme)(first, second::EnzymeCore.Annotation, rest...; options...) =
    f(own(first), own(second), map(own, rest)...; options...)

# `f!(y, x...)` inside a function that Enzyme.jl differentiates: y and each x in Const or Duplicated, one output.
const Shadowed = Union{EnzymeCore.Const,EnzymeCore.Duplicated}

# Values of inputs may be overwritten between the forward and the reverse sweep.
saved(x, is_overwritten) = is_overwritten && x.val isa AbstractArray ? copy(x.val) : x.val

function EnzymeRules.augmented_primal(
    config::EnzymeRules.RevConfigWidth{1}, f!::EnzymeCore.Const{InPlace}, ::Type{<:EnzymeCore.Const}, y::Shadowed, xs::Shadowed...,
)
    overwritten = EnzymeRules.overwritten(config)
    tape = ntuple(i -> saved(xs[i], overwritten[i+2]), length(xs))
    f!.val(y.val, map(x -> x.val, xs)...)
    return EnzymeRules.AugmentedReturn(EnzymeRules.needs_primal(config) ? y.val : nothing, nothing, tape)
end

function EnzymeRules.reverse(
    ::EnzymeRules.RevConfigWidth{1}, f!::EnzymeCore.Const{InPlace}, ::Type{<:EnzymeCore.Const}, tape, y::Shadowed, xs::Shadowed...,
)
    if y isa EnzymeCore.Duplicated
        _, back = FFGrad.pullback(f!.val.f, map((x, v) -> x isa EnzymeCore.Const ? FFGrad.Const(v) : v, xs, tape)...)
        gradients = back(y.dval)
        fill!(y.dval, 0)
        for (x, gradient) in zip(xs, gradients)
            x isa EnzymeCore.Duplicated && gradient !== nothing && (x.dval .+= gradient)
        end
    end
    return ntuple(_ -> nothing, length(xs) + 1)
end

# Calls that return new arrays have no rule yet: refuse rather than let Enzyme.jl guess.
function EnzymeRules.augmented_primal(::EnzymeRules.RevConfig, f::EnzymeCore.Const{Enzyme}, ::Type, args...)
    throw(FFGrad.DifferentiationError("Enzyme.jl meets $(f.val): call inplace(f)(y, x...) inside what it differentiates"; code = "no-rule"))
end

end
