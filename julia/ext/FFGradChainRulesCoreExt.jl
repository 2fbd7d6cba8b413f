# Rules for every framework on ChainRules (Zygote and others). UNTESTED: no package registry for Julia can be reached where ffgrad is tested.
module FFGradChainRulesCoreExt

using ChainRulesCore: ChainRulesCore, AbstractZero, NoTangent, ZeroTangent, unthunk
using FFGrad: FFGrad, Enzyme

seed(x) = x
seed(::AbstractZero) = nothing
cotangents(ȳ::AbstractZero, n) = ntuple(_ -> nothing, n)
cotangents(ȳ, n) = n == 1 ? (seed(unthunk(ȳ)),) : map(seed ∘ unthunk, Tuple(ȳ))

function ChainRulesCore.rrule(f::Enzyme, args...)
    y, back = FFGrad.pullback(f, args...)
    function pullback_of(ȳ)
        gradients = back(cotangents(unthunk(ȳ), length(f.outputs)))
        return (NoTangent(), map(g -> g === nothing ? NoTangent() : g, gradients)...)
    end
    return y, pullback_of
end

function ChainRulesCore.frule((_, tangents...), f::Enzyme, args...)
    ẏ = FFGrad.pushforward(f, args, map(seed ∘ unthunk, tangents))
    return f(args...), map_zero(ẏ)
end

map_zero(ẏ) = ẏ === nothing ? NoTangent() : ẏ
map_zero(ẏ::Tuple) = map(map_zero, ẏ)

end
