"""Bound letters, running integers and arbitrary constants may have any name, and nothing else."""

from __future__ import annotations

import pytest

from assay.rewards.outcome.maths.compare.equality import compare

SAME = [
    (r"x=k\pi, k\in\mathbb{Z}", r"x=\pi n"),
    (r"x=k\pi", r"x=n\pi"),
    (r"k\pi, k\in\mathbb Z", r"n\pi"),
    (r"x=\frac{\pi}{4}+k\pi", r"x=\frac{5\pi}{4}+k\pi"),
    (r"x=\frac{\pi}{4}+k\pi", r"x=\frac{\pi}{4}-m\pi"),
    (r"x=2k\pi \text{ or } x=(2k+1)\pi", r"x=k\pi"),
    (r"x=\pm\frac{\pi}{3}+2k\pi", r"x=\frac{\pi}{3}+2n\pi, x=-\frac{\pi}{3}+2n\pi"),
    (r"x=\pm\frac{\pi}{3}+2k\pi", r"x=\frac{\pi}{3}+2n\pi, x=\frac{5\pi}{3}+2n\pi"),
    (r"x=(-1)^k\frac{\pi}{6}+k\pi", r"x=\frac{\pi}{6}+2k\pi \text{ or } x=\frac{5\pi}{6}+2k\pi"),
    (r"\{k\pi : k\in\mathbb Z\}", r"x=n\pi, n\in\mathbb Z"),
    (r"\{x\mid x=k\pi, k\in\mathbb Z\}", r"x=n\pi"),
    (r"x=2k+1, k\in\mathbb Z", r"x=2n-1, n\in\mathbb Z"),
    (r"x=\arctan 2+k\pi", r"x=\frac{\pi}{2}-\arctan\frac12+n\pi"),
    (r"x\equiv 5\pmod{13}", r"x=13k+5, k\in\mathbb Z"),
    (r"x\equiv 5\pmod{13}", r"x-5\equiv 0\pmod{13}"),
    (r"x\equiv 5\pmod{13}", r"x \equiv 18 \ (\text{mod } 13)"),
    (r"x=13k-8, k\in\mathbb Z", r"x\equiv 5\pmod{13}"),
    (r"x^2+C", r"x^2+c"),
    (r"x^2+C", r"x^2+C_1"),
    (r"x^2+C", r"x^2+K"),
    (r"\ln x+C", r"\ln(2x)+C"),
    (r"x^2+C", r"x^2+5-2C"),
    (r"\sin^2 x+C", r"-\cos^2x+C"),
    (r"\sin^2 x+C", r"-\frac12\cos 2x+C"),
    (r"y=C_1e^x+C_2e^{-x}", r"y=Ae^x+Be^{-x}"),
    (r"y=C_1e^x+C_2e^{-x}", r"y=C_2e^x+C_1e^{-x}"),
    (r"y=C_1e^x+C_2e^{-x}", r"y=C_1e^x-2C_2e^{-x}"),
    (r"y=Ce^x", r"y=Ke^x"),
    (r"y=Ce^x", r"y=-Ce^x"),
    (r"\ln|x|+C", r"\ln x+C"),
    (r"[k\pi,k\pi+\frac{\pi}{2}], k\in\mathbb Z", r"[n\pi,n\pi+\frac{\pi}{2}], n\in\mathbb Z"),
    (r"\int_0^1 x^2 dx", r"\int_0^1 t^2 dt"),
    (r"\sum_{k=1}^\infty \frac{1}{k^2}", r"\sum_{n=1}^\infty \frac{1}{n^2}"),
    (r"\{x\mid x^2>2\}", r"\{t\mid t^2>2\}"),
    (r"x=\frac{\pi}{6}+\frac{k\pi}{2}", r"x=\frac{\pi}{6}+\frac{n\pi}{2}"),
    (r"x = 30^\circ + 180^\circ k", r"x=\frac{\pi}{6}+k\pi"),
    (r"f(x)=x^2+1", r"f(t)=t^2+1"),
    (r"x\in[2k\pi,2k\pi+\pi], k\in\mathbb Z", r"x\in[2n\pi,2n\pi+\pi], n\in\mathbb Z"),
    (r"y=e^{x+C}", r"y=e^{x+K}"),
    (r"\int_0^1\int_0^2 xy\,dx\,dy", r"\int_0^1\int_0^2 uv\,du\,dv"),
]
DIFFERENT = [
    (r"x\equiv 5\pmod{13}", r"x=13k+6, k\in\mathbb Z"),
    (r"x\equiv 5\pmod{13}", r"x=26k+5, k\in\mathbb Z"),
    (r"x\equiv 5\pmod{13}", r"2x\equiv 5\pmod{13}"),
    (r"x\equiv 5\pmod{13}", r"y=13k+5, k\in\mathbb Z"),
    (r"x\equiv 5\pmod{13}", r"x+5\equiv 0\pmod{13}"),
    (r"x=k\pi", r"x=2n\pi"),
    (r"x=k\pi", r"x=\frac{n\pi}{2}"),
    (r"k\pi", r"n\pi"),
    (r"x=\frac{\pi}{4}+k\pi", r"x=\frac{\pi}{4}+2k\pi"),
    (r"x=\frac{\pi}{4}+k\pi", r"x=\frac{3\pi}{4}+k\pi"),
    (r"x=2k\pi \text{ or } x=(2k+1)\pi", r"x=2k\pi"),
    (r"x=\pm\frac{\pi}{3}+2k\pi", r"x=\pm\frac{\pi}{3}+k\pi"),
    (r"x=\pm\frac{\pi}{3}+2k\pi", r"x=\frac{\pi}{3}+2k\pi"),
    (r"x=(-1)^k\frac{\pi}{6}+k\pi", r"x=\frac{\pi}{6}+k\pi"),
    (r"x=2k+1, k\in\mathbb Z", r"x=2n, n\in\mathbb Z"),
    (r"x=k\pi, k\in\mathbb Z", r"x=k\pi, k\in\mathbb N"),
    (r"y=k\pi", r"x=n\pi"),
    (r"y=kx", r"y=nx"),
    (r"x=k", r"x=n"),
    (r"x=k\pi+10^{-50}", r"x=k\pi"),
    (r"x^2+C", r"x^2+Cx"),
    (r"x^2+C", r"Cx^2"),
    (r"x^2+C", r"x^2"),
    (r"x^2+C", r"2x^2+C"),
    (r"x^2+C", r"y^2+C"),
    (r"\sin^2 x+C", r"\cos^2 x+C"),
    (r"y=C_1e^x+C_2e^{-x}", r"y=C_1e^x+C_2e^{-2x}"),
    (r"y=Ce^x", r"y=e^x+C"),
    (r"2A+C", r"2A+c"),
    (r"A+B+C", r"A+B+C+1"),
    (r"ax^2+bx+c", r"ax^2+bx+c+1"),
    (r"x+c", r"x+c+1"),
    (r"x+C", r"x+q"),
    (r"C(n,2)", r"c(n,2)"),
    (r"f(x)=x^2+a", r"f(a)=a^2+x"),
    (r"f(x)=x^2+1", r"g(t)=t^2+1"),
    (r"\int x^2 dx", r"\int t^2 dt"),
    (r"\int_0^1\int_0^2 xy^2\,dx\,dy", r"\int_0^1\int_0^2 u^2v\,du\,dv"),
    (r"\{x\mid x^2>2\}", r"\{t\mid t^2>3\}"),
    (r"x=3n", r"x=3k"),
]


def _both_ways(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [pair for one, other in pairs for pair in ((one, other), (other, one))]


@pytest.mark.parametrize(("answer", "reference"), _both_ways(SAME))
def test_another_letter_for_what_is_left_open_is_the_same(answer: str, reference: str) -> None:
    assert compare(answer, reference).equal is True


@pytest.mark.parametrize(("answer", "reference"), _both_ways(DIFFERENT))
def test_another_family_of_values_is_another_answer(answer: str, reference: str) -> None:
    assert compare(answer, reference).equal is not True
