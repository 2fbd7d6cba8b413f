# Every program of the conformance table: values against the NumPy reference, reverse and forward mode against finite
# differences and against each other, calls with Duplicated, and what must not change.

const TABLE = FFGrad.JSON.parse(read(ENV["FFGRAD_FIXTURE"], String))
const ONLY = split(get(ENV, "FFGRAD_ONLY", ""))
const TYPES = Dict(
    "float32" => Float32, "float64" => Float64, "bool" => Bool, "int8" => Int8, "int16" => Int16, "int32" => Int32,
    "int64" => Int64, "uint8" => UInt8, "uint16" => UInt16, "uint32" => UInt32, "uint64" => UInt64,
)
# Second derivatives are checked on a few; PyTorch's tests check them on all.
const SECOND = ["log_sum_exp", "matvec", "in_place_step", "scalars_only", "nbody_energy", "softmax"]
const REFUSED = String[]

"An array of the fixture as Julia holds it: the same memory, dimensions reversed; a number if it has none."
function julian(item)
    T = TYPES[item["dtype"]]
    values = T[v for v in item["values"]]
    return isempty(item["shape"]) ? values[1] : reshape(values, reverse(Int.(item["shape"]))...)
end

tuple_of(y) = y isa Tuple ? y : (y,)
inner(a, b) = sum(Float64.(a) .* Float64.(b))
inner(a::Tuple, b::Tuple) = sum(Float64[inner(x, y) for (x, y) in zip(a, b) if x !== nothing && y !== nothing])
# No random number generator: whatever it draws must be the same in every version of Julia.
noise(x::AbstractArray{T}, k) where {T} = T[sin(T(12.9898 * i + 78.233 * k)) for i in reshape(1:length(x), size(x))]
noise(x::T, k) where {T<:AbstractFloat} = sin(T(78.233 * k))
noise(::Any, k) = nothing
is_float(x) = eltype(x) <: AbstractFloat
moved(x, step, t) = t === nothing ? x : x .+ eltype(x)(step) .* t
within(found, expected, tolerance) = all(abs.(found .- expected) .<= tolerance .* max.(1, abs.(expected)))
bytes(x) = x isa AbstractArray ? copy(reinterpret(UInt8, vec(x))) : x

function run_case(case)
    f = enzyme(case["sources"], case["function"], case["signature"]; options_of(case)...)
    tolerance, name = case["tolerance"], case["name"]
    inputs, others = map(seed -> Tuple(map(julian, seed)), case["inputs"])
    untouched = map(bytes, inputs)

    values = tuple_of(f(inputs...))
    expected = map(julian, case["expected"])
    @test length(values) == length(expected)
    for (value, reference) in zip(values, expected)
        @test size(value) == size(reference)
        is_float(value) && @test typeof(value) == typeof(reference)
        limit = tolerance["primal"]
        @test all(abs.(value .- reference) .<= limit .+ limit .* abs.(reference))
    end

    differentiable = Tuple(case["differentiable"])
    try
        y, back = pullback(f, inputs...)
        back(map(_ -> nothing, tuple_of(y)))
    catch error
        error isa FFGrad.DifferentiationError && !isempty(intersect(case["tags"], ["fallback", "refused"])) || rethrow()
        @test error.code !== nothing && !isempty(error.hints)
        push!(REFUSED, name)
        return
    end

    check_adjoint(f, others, differentiable, tolerance)
    check_differences(f, inputs, differentiable, tolerance)
    check_duplicated(f, inputs, differentiable)
    name in SECOND && check_second(f, inputs, differentiable)
    @test map(bytes, inputs) == untouched
end

function options_of(case)
    return [Symbol(name) => value for (name, value) in case["options"]]
end

tangents_of(inputs, differentiable, k) =
    ntuple(i -> differentiable[i] ? noise(inputs[i], k + i) : nothing, length(inputs))

"⟨v, J t⟩ = ⟨Jᵀ v, t⟩"
function check_adjoint(f, inputs, differentiable, tolerance)
    y, back = pullback(f, inputs...)
    v = ntuple(i -> is_float(tuple_of(y)[i]) ? noise(tuple_of(y)[i], 50 + i) : nothing, length(tuple_of(y)))
    t = tangents_of(inputs, differentiable, 0)
    gradients = back(v)
    for (gradient, input, is) in zip(gradients, inputs, differentiable)
        @test is ? (size(gradient) == size(input) && eltype(gradient) == eltype(input)) : gradient === nothing
    end
    forward = inner(v, tuple_of(pushforward(f, inputs, t)))
    reverse = inner(gradients, t)
    parts = Float64[inner(abs.(g), abs.(d)) for (g, d) in zip(gradients, t) if g !== nothing]
    scale = max(1.0, parts...)
    @test abs(forward - reverse) <= tolerance["identity"] * scale
end

"One direction an input, against central differences: reverse and forward mode."
function check_differences(f, inputs, differentiable, tolerance)
    y, back = pullback(f, inputs...)
    v = ntuple(i -> is_float(tuple_of(y)[i]) ? noise(tuple_of(y)[i], 70 + i) : nothing, length(tuple_of(y)))
    gradients, step = back(v), tolerance["step"]
    for i in 1:length(inputs)
        differentiable[i] && !isempty(inputs[i]) || continue
        t = ntuple(j -> i == j ? noise(inputs[j], 90 + j) : nothing, length(inputs))
        at(s) = inner(v, tuple_of(f(map((x, d) -> moved(x, s, d), inputs, t)...)))
        numerical = (at(step) - at(-step)) / 2step
        @test within(inner(gradients[i], t[i]), numerical, tolerance["gradient"])
        @test within(inner(v, tuple_of(pushforward(f, inputs, t))), numerical, tolerance["gradient"])
    end
end

"The same gradients by a call with Duplicated, added to shadows of ones."
function check_duplicated(f, inputs, differentiable)
    y, back = pullback(f, inputs...)
    outputs = tuple_of(y)
    v = ntuple(i -> is_float(outputs[i]) ? noise(outputs[i], 30 + i) : nothing, length(outputs))
    expected = back(ntuple(i -> f.outputs[i] == "return" ? one(outputs[i]) : v[i], length(outputs)))
    shadows = Dict{String,Any}()
    arguments = Any[]
    for p in f.parameters
        p.role in (:size, :scratch, :return) && continue
        push!(arguments, duplicated(p, inputs, outputs, v, differentiable, shadows))
    end
    f(arguments...)
    for (i, p) in enumerate(f.ins)
        differentiable[i] || continue
        shadow, added = shadows[p.name], p.role === :inout ? 0 : 1
        @test all(isapprox.(unwrapped(shadow), added .+ expected[i]; rtol = 1e-5, atol = 1e-5))
    end
    for (i, p) in enumerate(f.outs)
        haskey(shadows, p.name) && p.role === :output && @test all(iszero, unwrapped(shadows[p.name]))
    end
end

place(x::AbstractArray) = copy(x)
place(x::Number) = fill(x)
unwrapped(x) = x

function duplicated(p, inputs, outputs, v, differentiable, shadows)
    if p.role === :output
        v[p.output] === nothing && return place(outputs[p.output])
        shadows[p.name] = place(v[p.output])
        return Duplicated(place(zero(outputs[p.output])), shadows[p.name])
    end
    x = inputs[p.input]
    differentiable[p.input] || return Const(p.role === :inout ? place(x) : x)
    shadows[p.name] = p.role === :inout ? place(v[p.output]) : place(x .* 0 .+ 1)
    return Duplicated(place(x), shadows[p.name])
end

"H t against differences of the gradient along t."
function check_second(f, inputs, differentiable)
    outputs = tuple_of(f(inputs...))
    v = map(y -> noise(y, 3), outputs)
    t = tangents_of(inputs, differentiable, 20)
    products = hvp(f, inputs, t; cotangent = v)
    step = 1e-6
    at(s) = pullback(f, map((x, d) -> moved(x, s, d), inputs, t)...)[2](v)
    for (product, up, down) in zip(products, at(step), at(-step))
        product === nothing || @test within(product, (up .- down) ./ 2step, 1e-6)
    end
end

@testset "conformance: $(case["name"])" for case in TABLE
    isempty(ONLY) || case["name"] in ONLY || continue
    run_case(case)
end

println("conformance: $(length(TABLE)) programs, refused: ", isempty(REFUSED) ? "none" : join(REFUSED, ", "))
