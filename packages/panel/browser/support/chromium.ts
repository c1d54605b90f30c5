import { existsSync } from "node:fs"
import { type Browser, type BrowserServer, chromium } from "playwright-core"

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

const options = () => {
  if (chromiumPath === undefined) throw new Error("there is no Chromium here; name one in CHROMIUM")
  return {
    executablePath: chromiumPath,
    // As root there is no sandbox. It loads nothing but the panel.
    args: ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]
  }
}

export const launchChromium = async (): Promise<Browser> => chromium.launch(options())

/** A browser that others connect to. */
export const serveChromium = async (): Promise<BrowserServer> => chromium.launchServer(options())

/** Closing it closes what was opened with it, and leaves the browser to others. */
export const connectToChromium = (endpoint: string): Promise<Browser> => chromium.connect(endpoint)
