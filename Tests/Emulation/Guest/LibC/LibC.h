// What the kernels call of the C library.
float cosf(float);
float fmodf(float, float);
float sinf(float);
float tanf(float);
