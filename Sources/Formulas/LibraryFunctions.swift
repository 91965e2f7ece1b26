import LibC

// The C library's functions by names that no case of `ElementFunction` hides.

func exponential(_ x: Double) -> Double { exp(x) }
func exponentialLessOne(_ x: Double) -> Double { expm1(x) }
func logarithm(_ x: Double) -> Double { log(x) }
func logarithmOfOneMore(_ x: Double) -> Double { log1p(x) }
func sine(_ x: Double) -> Double { sin(x) }
func cosine(_ x: Double) -> Double { cos(x) }
func tangent(_ x: Double) -> Double { tan(x) }
func arcSine(_ x: Double) -> Double { asin(x) }
func arcCosine(_ x: Double) -> Double { acos(x) }
func arcTangent(_ x: Double) -> Double { atan(x) }
func hyperbolicSine(_ x: Double) -> Double { sinh(x) }
func hyperbolicCosine(_ x: Double) -> Double { cosh(x) }
func hyperbolicTangent(_ x: Double) -> Double { tanh(x) }
func errorFunction(_ x: Double) -> Double { erf(x) }
func raised(_ x: Double, _ y: Double) -> Double { pow(x, y) }
func raised(_ x: Float, _ y: Float) -> Float { powf(x, y) }
