"""Writes small models that are not networks, with what scikit-learn and XGBoost answer.

Made with coremltools 9.0, scikit-learn 1.5.1 and XGBoost 1.7.6: python make.py

Each folder has `model.mlmodel` and `cases.json`: the inputs, the answers, and how much they may
differ. Answers that no framework gives (suppression, categorical mapping, extraction) are derived
next to them.
"""

import json
import math
import os
import warnings

import numpy as np

warnings.filterwarnings("ignore")

import coremltools as ct  # noqa: E402
import xgboost  # noqa: E402
from coremltools import proto  # noqa: E402
from coremltools.models import datatypes  # noqa: E402
from sklearn import ensemble, impute, linear_model, neighbors, preprocessing, svm, tree  # noqa: E402
from sklearn.feature_extraction import DictVectorizer  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
generator = np.random.RandomState(7)


def plain(value):
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, (float, np.floating)):
        return "NaN" if math.isnan(value) else float(value)
    if isinstance(value, np.integer):
        return int(value)
    return value


def write(name, model, cases, tolerance=1e-9):
    folder = os.path.join(HERE, name)
    os.makedirs(folder, exist_ok=True)
    spec = model.get_spec() if hasattr(model, "get_spec") else model
    with open(os.path.join(folder, "model.mlmodel"), "wb") as file:
        file.write(spec.SerializeToString(deterministic=True))
    with open(os.path.join(folder, "cases.json"), "w") as file:
        rows = [
            {"inputs": plain(inputs), "outputs": plain(outputs), "tolerance": tolerance}
            for inputs, outputs in cases
        ]
        file.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


NAMES = ["a", "b", "c", "d"]


def data(rows=40, columns=4):
    return generator.uniform(-2, 2, (rows, columns)).astype(np.float32).astype(np.float64)


def columns(row):
    return dict(zip(NAMES, row.tolist()))


def regression(name, estimator, tolerance=1e-9):
    x = data()
    y = np.sin(x[:, 0]) + x[:, 1] * x[:, 2]
    estimator.fit(x, y)
    model = ct.converters.sklearn.convert(estimator, NAMES, "value")
    test = data(4)
    answers = estimator.predict(test)
    write(name, model, [
        (columns(row), {"value": answer}) for row, answer in zip(test, answers)], tolerance)


def classification(name, estimator, classes, probabilities=True, tolerance=1e-9):
    x = data(60)
    score = x[:, 0] + 0.5 * x[:, 1] * x[:, 2]
    y = np.array(classes)[np.digitize(score, np.linspace(-1, 1, len(classes) + 1)[1:-1])]
    estimator.fit(x, y)
    model = ct.converters.sklearn.convert(estimator, NAMES, "label")
    test = data(6)
    labels = estimator.predict(test)
    odds = estimator.predict_proba(test) if probabilities else [None] * len(test)
    cases = []
    for row, label, odd in zip(test, labels, odds):
        answer = {"label": label}
        if odd is not None:
            # scikit-learn's support vector machines predict by votes; libsvm's, if it is asked for
            # probabilities, by these (`svm_predict_probability`).
            answer["label"] = estimator.classes_[np.argmax(odd)]
            answer["classProbability"] = dict(zip(estimator.classes_, odd))
        cases.append((columns(row), answer))
    write(name, model, cases, tolerance)


def frameworks():
    regression("linear-regressor", linear_model.LinearRegression())
    for kernel in ["linear", "rbf", "poly", "sigmoid"]:
        regression(f"support-vector-regressor-{kernel}", svm.SVR(kernel=kernel, gamma=0.3))
    regression("tree-regressor", tree.DecisionTreeRegressor(max_depth=4, random_state=1))
    regression("forest-regressor", ensemble.RandomForestRegressor(5, max_depth=3, random_state=1))
    regression(
        "boosted-regressor", ensemble.GradientBoostingRegressor(n_estimators=5, random_state=1))
    two, three = ["no", "yes"], ["high", "low", "medium"]
    numbers = [3, 5, 9]
    ovr = dict(multi_class="ovr")
    classification("linear-classifier-two", linear_model.LogisticRegression(**ovr), two)
    classification("linear-classifier-three", linear_model.LogisticRegression(**ovr), numbers)
    classification("tree-classifier-two", tree.DecisionTreeClassifier(
        max_depth=3, random_state=1), two)
    classification("forest-classifier-three", ensemble.RandomForestClassifier(
        4, max_depth=3, random_state=1), three)
    classification("boosted-classifier-two", ensemble.GradientBoostingClassifier(
        n_estimators=4, random_state=1), two)
    classification("support-vector-classifier-two", svm.SVC(gamma=0.3), two, False)
    classification("support-vector-classifier-three", svm.SVC(kernel="poly", gamma=0.3),
                   numbers, False)
    # scikit-learn stops its iteration at a change of 0.005 / classes.
    classification("support-vector-classifier-probabilities", svm.SVC(
        gamma=0.3, probability=True, random_state=1), three, True, 1e-6)


def boosted_trees():
    x = data()
    x[generator.uniform(size=x.shape) < 0.2] = np.nan
    y = np.where(np.isnan(x[:, 0]), 2, x[:, 0]) + np.where(np.isnan(x[:, 1]), -1, x[:, 1] ** 2)
    estimator = xgboost.XGBRegressor(n_estimators=4, max_depth=3, tree_method="exact")
    estimator.fit(x, y)
    model = ct.converters.xgboost.convert(estimator, NAMES, "value")
    test = x[:6]
    answers = estimator.predict(test)
    # XGBoost adds in single precision.
    write("xgboost-missing-values", model, [
        (columns(row), {"value": answer}) for row, answer in zip(test, answers)], 1e-5)


def preparation():
    x = data()
    test = data(3)
    scaler = preprocessing.StandardScaler().fit(x)
    model = ct.converters.sklearn.convert(scaler, "x", "y").get_spec()
    write("scaler", model, [
        ({"x": row}, {"y": scaler.transform(row[None])[0]}) for row in test])
    for norm in ["l1", "l2", "max"]:
        normalizer = preprocessing.Normalizer(norm=norm)
        model = interface([("x", datatypes.Array(4))], [("y", datatypes.Array(4))])
        model.normalizer.normType = proto.Normalizer_pb2.Normalizer.NormType.Value(
            {"max": "LMax", "l1": "L1", "l2": "L2"}[norm])
        rows = list(test) + [np.zeros(4)]
        write(f"normalizer-{norm}", model, [
            ({"x": row}, {"y": normalizer.transform(row[None])[0]}) for row in rows])
    missing = x.copy()
    missing[generator.uniform(size=x.shape) < 0.2] = np.nan
    imputer = impute.SimpleImputer(strategy="mean").fit(missing)
    model = ct.converters.sklearn.convert(imputer, "x", "y").get_spec()
    write("imputer", model, [
        ({"x": row}, {"y": imputer.transform(row[None])[0]}) for row in missing[:4]])
    items = [{"a": 1.5, "b": 2.0}, {"c": -1.0}, {"a": 3.0, "c": 0.5}]
    vectorizer = DictVectorizer(sparse=False).fit(items)
    model = ct.converters.sklearn.convert(vectorizer, "x", "y").get_spec()
    write("dictionary-vectorizer", model, [
        ({"x": item}, {"y": vectorizer.transform([item])[0]}) for item in items])
    categories = np.array([[0], [1], [3], [7]])
    encoder = preprocessing.OneHotEncoder(sparse_output=False).fit(categories)
    spec = interface([("x", datatypes.Int64())], [("y", datatypes.Array(4))])
    spec.oneHotEncoder.int64Categories.vector[:] = [0, 1, 3, 7]
    write("one-hot-encoder", spec, [
        ({"x": int(row[0])}, {"y": encoder.transform(row[None])[0]}) for row in categories])


def nearest_neighbors():
    x = data(30)
    y = (x[:, 0] > 0).astype(int) + (x[:, 1] > 1)
    estimator = neighbors.KNeighborsClassifier(5, algorithm="brute").fit(x, y)
    model = ct.converters.sklearn.convert(estimator, "x", "label")
    test = data(6)
    write("nearest-neighbors", model, [
        ({"x": row}, {"label": label}) for row, label in zip(test, estimator.predict(test))])


def interface(inputs, outputs):
    spec = proto.Model_pb2.Model()
    spec.specificationVersion = 3
    for features, place in [(inputs, spec.description.input), (outputs, spec.description.output)]:
        for name, kind in features:
            feature = place.add()
            feature.name = name
            datatypes._set_datatype(feature.type, kind)
    return spec


def derived():
    spec = interface([("x", datatypes.Int64())], [("y", datatypes.String())])
    spec.categoricalMapping.int64ToStringMap.map[3] = "three"
    spec.categoricalMapping.int64ToStringMap.map[-1] = "minus one"
    spec.categoricalMapping.strValue = "other"
    write("categorical-mapping", spec, [
        ({"x": 3}, {"y": "three"}), ({"x": -1}, {"y": "minus one"}), ({"x": 4}, {"y": "other"})])
    spec = interface([("x", datatypes.Array(4))], [("y", datatypes.Array(2))])
    spec.arrayFeatureExtractor.extractIndex[:] = [2, 0]
    write("array-feature-extractor", spec, [({"x": [5.0, 6.0, 7.0, 8.0]}, {"y": [7.0, 5.0]})])
    spec = interface(
        [("n", datatypes.Int64()), ("d", datatypes.Double()), ("x", datatypes.Array(2))],
        [("y", datatypes.Array(4))])
    for name, size in [("x", 2), ("n", 1), ("d", 1)]:
        column = spec.featureVectorizer.inputList.add()
        column.inputColumn = name
        column.inputDimensions = size
    write("feature-vectorizer", spec, [
        ({"n": 4, "d": 0.25, "x": [1.0, 2.0]}, {"y": [1.0, 2.0, 4.0, 0.25]})])
    spec = interface([("x", datatypes.String())], [("x", datatypes.String())])
    spec.identity.SetInParent()
    write("identity", spec, [({"x": "any text"}, {"x": "any text"})])
    suppression()


def suppression():
    """Boxes 0 and 1 overlap by 9 of 11 parts (0.818), boxes 0 and 2 by 5 of 15 (0.333).

    Box 0 is from 0 to 10, box 1 from 1 to 11, box 2 from 5 to 15, all 10 high; box 3 is far away
    and below the threshold, box 4 far away.
    """
    spec = interface(
        [("confidence", datatypes.Array(5, 2)), ("boxes", datatypes.Array(5, 4)),
         ("overlap", datatypes.Double())],
        [("picked", datatypes.Array(1, 2)), ("places", datatypes.Array(1, 4))])
    for output, width in [(0, 2), (1, 4)]:
        array = spec.description.output[output].type.multiArrayType
        array.ClearField("shape")
        for low, high in [(0, -1), (width, width)]:
            size = array.shapeRange.sizeRanges.add()
            size.lowerBound, size.upperBound = low, high
    model = spec.nonMaximumSuppression
    model.pickTop.perClass = True
    model.iouThreshold = 0.5
    model.confidenceThreshold = 0.2
    model.confidenceInputFeatureName = "confidence"
    model.coordinatesInputFeatureName = "boxes"
    model.iouThresholdInputFeatureName = "overlap"
    model.confidenceOutputFeatureName = "picked"
    model.coordinatesOutputFeatureName = "places"
    model.stringClassLabels.vector[:] = ["cat", "dog"]
    confidence = [[0.6, 0.1], [0.8, 0.0], [0.5, 0.2], [0.1, 0.15], [0.0, 0.9]]
    boxes = [[5.0, 5, 10, 10], [6.0, 5, 10, 10], [10.0, 5, 10, 10], [40.0, 5, 4, 4],
             [60.0, 5, 4, 4]]
    # Boxes 1 and 2 overlap by 6 of 14 parts (0.429).
    def picked(*indices):
        return {"picked": [confidence[i] for i in indices], "places": [boxes[i] for i in indices]}
    inputs = {"confidence": confidence, "boxes": boxes}
    write("suppression", spec, [
        ({**inputs, "overlap": 0.5}, picked(4, 1, 2)), ({**inputs, "overlap": 0.4}, picked(4, 1)),
        ({**inputs, "overlap": 0.9}, picked(4, 1, 0, 2))])


def pipeline():
    from sklearn.pipeline import Pipeline
    x = data()
    estimator = Pipeline([
        ("scale", preprocessing.StandardScaler()),
        ("trees", ensemble.RandomForestClassifier(3, max_depth=3, random_state=1))])
    y = np.array(["left", "right"])[(x[:, 0] > x[:, 1]).astype(int)]
    estimator.fit(x, y)
    model = ct.converters.sklearn.convert(estimator, NAMES, "label")
    test = data(4)
    write("pipeline", model, [
        (columns(row), {"label": label, "classProbability": dict(zip(estimator.classes_, odds))})
        for row, label, odds in zip(
            test, estimator.predict(test), estimator.predict_proba(test))])


def not_a_number():
    # libsvm trains such a model with `-s 1 -t 1 -d 0 -g 0.9 -r 2 -b 1`. It limits probabilities with
    # `(x > y) ? x : y`, which gives y for NaN, so libsvm 3.23 answers 1e-7 and 1 - 1e-7.
    x = data(60)
    y = np.array(["no", "yes"])[(x[:, 0] > x[:, 1]).astype(int)]
    estimator = svm.SVC(gamma=0.3, probability=True, random_state=1).fit(x, y)
    spec = ct.converters.sklearn.convert(estimator, NAMES, "label").get_spec()
    member = spec.pipelineClassifier.pipeline.models[-1]
    member.supportVectorClassifier.rho[0] = math.nan
    answer = {"label": "yes", "classProbability": {"no": 1e-7, "yes": 1 - 1e-7}}
    write("support-vector-classifier-not-a-number", spec, [
        (columns(row), answer) for row in data(2)])


if __name__ == "__main__":
    frameworks()
    boosted_trees()
    preparation()
    nearest_neighbors()
    derived()
    pipeline()
    not_a_number()
