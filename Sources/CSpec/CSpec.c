#include "CSpec.h"
