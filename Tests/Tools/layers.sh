#!/bin/sh
# Checks that every target imports only targets below it. One line a target: its name, then what it
# may import of this package; of LayerTemplates also what the texts import that it writes.
set -eu
cd "$(dirname "$0")/../.."
table='
CSpec:
TensorCore:
Files: TensorCore
KernelInterface:
ByteFormats: Files TensorCore CZlib
HDF5Reader: TensorCore CSystem
HDF5Library: HDF5Reader TensorCore CHDF5 CSystem
HDF5Worker: HDF5Library HDF5Reader TensorCore
KernelsBaseline: KernelInterface CVector
KernelsAVX2: KernelInterface CVector
KernelsAVX512: KernelInterface CVector
Kernels: KernelsBaseline KernelsAVX2 KernelsAVX512 KernelInterface CSystem CVector TensorCore
Formulas: Kernels KernelInterface TensorCore
CoreMLModel: ByteFormats Files TensorCore CSpec CProtobufC
CustomLayers: Formulas Kernels KernelInterface CAssayPlugin CSystem TensorCore
ModelTransforms: CoreMLModel ByteFormats TensorCore
Engine: CoreMLModel CustomLayers Kernels KernelInterface CSystem TensorCore
LayerTemplates: CoreMLModel CustomLayers Engine PluginSupport ByteFormats Files TensorCore AssayPlugin CAssayPlugin CoreML PackageDescription Testing
ImportSupport: CoreMLModel Formulas ByteFormats Files TensorCore
KerasImport: ImportSupport ModelTransforms CoreMLModel Formulas HDF5Reader ByteFormats Files TensorCore
CaffeImport: ImportSupport CoreMLModel Formulas HDF5Reader ByteFormats Files TensorCore CSpec CProtobufC
DarknetImport: ImportSupport CoreMLModel Formulas ByteFormats Files TensorCore
Imaging: ByteFormats Files TensorCore CPNG CJPEG CCodecs
Detection: Imaging TensorCore
Verification: Engine CoreMLModel ByteFormats TensorCore
ModelPrediction: Engine ModelTransforms CustomLayers Imaging CoreMLModel TensorCore
NetworkBuilder: ModelPrediction Engine CustomLayers Imaging CoreMLModel Files TensorCore
Assay: ModelPrediction Verification Detection Imaging KerasImport CaffeImport DarknetImport ImportSupport Engine ModelTransforms CustomLayers LayerTemplates CoreMLModel HDF5Reader Kernels ByteFormats Files TensorCore
AssayCommand: Assay
'
outside='Foundation FoundationEssentials Glibc Darwin Musl Dispatch Synchronization ArgumentParser'
status=0
for directory in Sources/*/; do
  target=$(basename "$directory")
  # Files for packages that plug-ins are.
  [ "$target" != PluginSupport ] || continue
  files=$(find "$directory" -name '*.swift' -print)
  [ -n "$files" ] || continue
  if ! printf '%s' "$table" | grep -q "^$target:"; then
    echo "layers: $target is not in the table" >&2
    status=1
    continue
  fi
  allowed="$outside $(printf '%s' "$table" | sed -n "s/^$target://p")"
  # shellcheck disable=SC2086
  imports=$(grep -hoE '^ *(@[a-zA-Z_]+(\([a-z]+\))? +)*(public |package |internal )?import +(struct |class |enum |func |protocol )?[A-Za-z0-9_]+' $files |
    sed -E 's/.* //' | sort -u)
  for import in $imports; do
    case " $allowed " in
      *" $import "*) ;;
      *)
        echo "layers: $target must not import $import: $(grep -lE "import +$import\b" $files | head -n 1)" >&2
        status=1
        ;;
    esac
  done
done
[ $status -ne 0 ] || echo "layers: every import looks downward"
exit $status
