@llvm.compiler.used = appending global [1 x ptr] [ptr @_ZGVbN2v_sin], section "llvm.metadata"

declare double @sin(double)

define double @f(double %x) {
  %y = call double @sin(double %x) #1
  ret double %y
}

; Function Attrs: nounwind willreturn memory(none)
declare <2 x double> @_ZGVbN2v_sin(<2 x double>) #0

attributes #0 = { nounwind willreturn memory(none) }
attributes #1 = { "vector-function-abi-variant"="_ZGV_LLVM_N2v_sin(_ZGVbN2v_sin)" }
