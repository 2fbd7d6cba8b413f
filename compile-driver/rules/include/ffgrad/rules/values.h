/* What values.c defines: see there. */
#ifndef FFGRAD_RULES_VALUES_H
#define FFGRAD_RULES_VALUES_H

/* The number without its derivative. */
extern double ffgrad_constant(double x);
/* One number with the derivative of another. */
extern double ffgrad_value(double x, double like);
/* One number whose derivative is not known: not-a-number where another has one. */
extern double ffgrad_unknown(double x, double like);

#endif
