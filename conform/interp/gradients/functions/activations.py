"""Gradients of activations that are smooth, or smooth but for one place."""

from __future__ import annotations

from conform.interp.gradients import constants
from conform.interp.gradients.constants import times
from conform.interp.gradients.kinks import by_side
from conform.interp.gradients.rules import gradient
from conform.interp.program.number import Number


@gradient("aten::sigmoid")
def sigmoid(g: Number, result: Number) -> Number:
    """g (1 - result) result"""
    return g * ((1 - result) * result)


@gradient("aten::silu")
def silu(g: Number, self: Number) -> Number:
    """g s (1 + self (1 - s)), s = sigmoid(self)"""
    s = self.sigmoid()
    return g * (s * (1 + self * (1 - s)))


@gradient("aten::gelu")
def gelu(g: Number, self: Number, approximate: str) -> Number:
    """g (Phi(self) + self phi(self)), Phi the normal distribution, phi its density; with approximate=tanh
    g (1/2 (1 + t) + self/2 (1 - t^2) k (1 + 3 * 0.044715 self^2)), t = tanh(k (self + 0.044715 self^3)), k = sqrt(2/pi)
    """
    if approximate == "none":
        distribution = 0.5 * (1 + times(self, constants.ROOT_OF_HALF).erf())
        density = times((self * self * -0.5).exp(), constants.OVER_ROOT_2_PI)
        return g * (distribution + self * density)
    square = self * self
    t = times(self + times(square * self, constants.OF_CUBE), constants.ROOT_OF_2_OVER_PI).tanh()
    inner = times(1 + times(square * 3, constants.OF_CUBE), constants.ROOT_OF_2_OVER_PI)
    return g * (0.5 * (1 + t) + 0.5 * self * (1 - t * t) * inner)


@gradient("aten::mish")
def mish(g: Number, self: Number) -> Number:
    """g (t + self s (1 - t^2)), t = tanh(log(1 + e^self)), s = sigmoid(self)"""
    t = self.exp().log1p().tanh()
    return g * (t + self * self.sigmoid() * (1 - t * t))


@gradient("aten::softplus")
def softplus(g: Number, self: Number, beta: float, threshold: float) -> Number:
    """g sigmoid(beta self), and g where beta self > threshold"""
    scaled = self * beta
    return by_side(scaled, float(threshold), g, g * scaled.sigmoid(), g)


@gradient("aten::log_sigmoid")
def log_sigmoid(g: Number, self: Number) -> Number:
    """g sigmoid(-self)"""
    return g * (-self).sigmoid()


@gradient("aten::elu")
def elu(g: Number, self: Number, alpha: float, scale: float, input_scale: float) -> Number:
    """g scale where self > 0, g scale alpha input_scale e^(input_scale self) below"""
    below = g * (self * input_scale).exp() * (float(scale) * float(alpha) * float(input_scale))
    return by_side(self, 0.0, g * scale, below, g)


@gradient("aten::selu")
def selu(g: Number, self: Number) -> Number:
    """g scale where self > 0, g scale alpha e^self below"""
    return by_side(self, 0.0, times(g, constants.SELU_SCALE), times(g * self.exp(), constants.SELU_SCALE_ALPHA), g)


@gradient("aten::celu")
def celu(g: Number, self: Number, alpha: float) -> Number:
    """g where self > 0, g e^(self / alpha) below"""
    return by_side(self, 0.0, g, g * (self / alpha).exp(), g)
