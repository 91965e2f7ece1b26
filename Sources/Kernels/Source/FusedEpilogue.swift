import KernelInterface

/// The activation of an `Epilogue`, applied to vectors whose channels begin at `channel`.
@inline(__always)
func activate(_ x: Vector, _ epilogue: Epilogue, channel: Int) -> Vector {
  switch epilogue.activation {
  case .none: x
  case .relu: select(x .< .zero, .zero, x)
  case .clip: minimum(maximum(x, splat(epilogue.lower)), splat(epilogue.upper))
  case .leaky: select(x .< .zero, x * splat(epilogue.alpha), x)
  case .prelu:
    if let slopes = epilogue.slopes {
      select(x .< .zero, x * load(slopes + channel), x)
    } else {
      x
    }
  }
}
