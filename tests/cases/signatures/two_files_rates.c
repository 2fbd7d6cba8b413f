// Two C files, the other one: the function that two_files_main.c calls.
#include <math.h>

double arrhenius(double temperature, double energy) {
  return exp(-energy / temperature);
}
