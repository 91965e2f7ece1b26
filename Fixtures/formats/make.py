"""Files of TensorFlow that are not read here: graph.pb (a frozen graph), saved_model.pb (the program of
a SavedModel) and add.tflite. Written by TensorFlow 2.21.0: python3 make.py"""

import os
import shutil

import tensorflow as tf

os.chdir(os.path.dirname(os.path.abspath(__file__)))
graph = tf.Graph()
with graph.as_default():
    x = tf.compat.v1.placeholder(tf.float32, [1, 2], name="x")
    tf.identity(x, name="y")
open("graph.pb", "wb").write(graph.as_graph_def().SerializeToString(deterministic=True))


class Add(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([1, 2])])
    def add(self, x):
        return x + 1


module = Add()
function = module.add.get_concrete_function()
converter = tf.lite.TFLiteConverter.from_concrete_functions([function], module)
open("add.tflite", "wb").write(converter.convert())
tf.saved_model.save(module, "saved")
os.replace("saved/saved_model.pb", "saved_model.pb")
shutil.rmtree("saved")
