target triple = "x86_64-pc-linux-gnu"

define double @f(double %x) #0 {
  ret double %x
}

attributes #0 = { "target-cpu"="x86-64-v4" "target-features"="+avx512f,+prefer-no-gather" }
