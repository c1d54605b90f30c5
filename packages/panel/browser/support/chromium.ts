import { existsSync } from "node:fs"
import { type Browser, chromium } from "playwright-core"

/** Where Debian, and others, put it. */
const places = [
  process.env["CHROMIUM"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
]

export const chromiumPath: string | undefined = places.find(
  (place) => place !== undefined && existsSync(place)
)

export const launchChromium = (): Promise<Browser> => {
  if (chromiumPath === undefined) throw new Error("there is no Chromium here; name one in CHROMIUM")
  return chromium.launch({
    executablePath: chromiumPath,
    // As root there is no sandbox. It loads nothing but the panel.
    args: ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]
  })
}
