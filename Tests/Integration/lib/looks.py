"""Checks that our pages are legible: on a phone and on a desktop, light and dark."""

# The width (WCAG 2.2 §1.4.10) and the contrast of text (§1.4.3) at which a page must be legible.
WIDTHS = (320, 1280)
SCHEMES = ("light", "dark")
LEAST_CONTRAST = 4.5

# Returns the width of the page, what it loaded from other hosts, and the lowest contrast of its text.
MEASURE = """
const parse = (color) => color.match(/[\\d.]+/g).slice(0, 3).map(Number);
const luminance = (color) => parse(color)
    .map((part) => part / 255)
    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
const style = (element) => getComputedStyle(element);
const background = (element) => {
    const isClear = (one) => style(one).backgroundColor.replace(/ /g, "") === "rgba(0,0,0,0)";
    while (element.parentElement && isClear(element)) element = element.parentElement;
    return style(element).backgroundColor;
};
const contrast = (element) => {
    const [dark, light] = [style(element).color, background(element)].map(luminance).sort((one, other) => one - other);
    return (light + 0.05) / (dark + 0.05);
};
const texts = [...document.querySelectorAll("h1, p, code, footer")];
return {
    width: document.documentElement.scrollWidth,
    loaded: performance.getEntriesByType("resource").map((entry) => entry.name)
        .filter((name) => !name.startsWith(location.origin)),
    contrast: Math.min(...texts.map(contrast)),
    paper: style(document.body).backgroundColor,
};
"""


def faults(chromium, shots, name):
    """What is wrong with the page in the browser, a sentence for each fault. Screenshots go to the folder `shots`, if there is one."""
    found, papers = [], {}
    for width in WIDTHS:
        for scheme in SCHEMES:
            chromium.look(width, scheme)
            seen = chromium.run(MEASURE)
            papers[scheme] = seen["paper"]
            if seen["width"] > width:
                found.append(f"it is {seen['width']} px wide where there are {width}")
            if seen["contrast"] < LEAST_CONTRAST:
                found.append(f"its contrast is {seen['contrast']:.2f} when {scheme}")
            if seen["loaded"]:
                found.append(f"it loads {seen['loaded']}")
            if shots:
                chromium.screenshot(shots / f"{name}-{width}-{scheme}.png")
    if len(set(papers.values())) < len(SCHEMES):
        found.append(f"it is the same for light and dark desktops: {papers}")
    chromium.look(max(WIDTHS), "light")
    return found
