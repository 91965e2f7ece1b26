/// The quantile function of the standard normal distribution: Wichura's algorithm AS 241 (1988), to
/// about 16 digits, with operations that every machine rounds the same way.
enum NormalQuantile {
  static func value(_ probability: Double) -> Double {
    let q = probability - 0.5
    if abs(q) <= 0.425 {
      let r = 0.180625 - q * q
      return q * polynomial(r, center.0) / polynomial(r, center.1)
    }
    var r = (-logarithm(q < 0 ? probability : 1 - probability)).squareRoot()
    let (top, bottom) = r <= 5 ? middle : tail
    r -= r <= 5 ? 1.6 : 5
    let value = polynomial(r, top) / polynomial(r, bottom)
    return q < 0 ? -value : value
  }

  /// The natural logarithm of a normal number: ln m + e · ln 2 with 2 · artanh((m − 1) / (m + 1)).
  static func logarithm(_ value: Double) -> Double {
    var (mantissa, exponent) = (value.significand, Double(value.exponent))
    if mantissa > 1.414_213_562_373_095 {
      mantissa /= 2
      exponent += 1
    }
    let t = (mantissa - 1) / (mantissa + 1)
    let square = t * t
    var sum = 0.0
    for term in stride(from: 21, through: 1, by: -2) { sum = sum * square + 1 / Double(term) }
    return exponent * 0.693_147_180_559_945_309 + 2 * t * sum
  }

  private static func polynomial(_ x: Double, _ coefficients: [Double]) -> Double {
    coefficients.reversed().reduce(0) { $0 * x + $1 }
  }

  private static let center = (
    [
      3.387_132_872_796_366_608, 133.141_667_891_784_377_45, 1971.590_950_306_551_442_7,
      13731.693_765_509_461_125, 45921.953_931_549_871_457, 67265.770_927_008_700_853,
      33430.575_583_588_128_105, 2509.080_928_730_122_672_7,
    ],
    [
      1.0, 42.313_330_701_600_911_252, 687.187_007_492_057_908_3, 5394.196_021_424_751_107_7,
      21213.794_301_586_595_867, 39307.895_800_092_710_61, 28729.085_735_721_942_674,
      5226.495_278_852_854_561,
    ]
  )

  private static let middle = (
    [
      1.423_437_110_749_683_577_34, 4.630_337_846_156_545_295_9, 5.769_497_221_460_691_405_5,
      3.647_848_324_763_204_605_04, 1.270_458_252_452_368_382_58,
      0.241_780_725_177_450_611_77, 0.022_723_844_989_269_184_583,
      7.745_450_142_783_414_076_4e-4,
    ],
    [
      1.0, 2.053_191_626_637_758_821_87, 1.676_384_830_183_803_849_4,
      0.689_767_334_985_100_004_55, 0.148_103_976_427_480_074_59,
      0.015_198_666_563_616_457_196_6, 5.475_938_084_995_344_946e-4,
      1.050_750_071_644_416_843_24e-9,
    ]
  )

  private static let tail = (
    [
      6.657_904_643_501_103_777_2, 5.463_784_911_164_114_369_9, 1.784_826_539_917_291_335_8,
      0.296_560_571_828_504_891_23, 0.026_532_189_526_576_123_093,
      0.001_242_660_947_388_078_438_6, 2.711_555_568_743_487_578_15e-5,
      2.010_334_399_292_288_132_65e-7,
    ],
    [
      1.0, 0.599_832_206_555_887_937_69, 0.136_929_880_922_735_805_31,
      0.014_875_361_290_850_615_025, 7.868_691_311_456_132_591_005e-4,
      1.846_318_317_510_054_681_8e-5, 1.421_511_758_316_445_888_7e-7,
      2.044_263_103_389_939_785_64e-15,
    ]
  )
}
