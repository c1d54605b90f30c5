import { existsSync } from "node:fs"
import { type Browser, type BrowserServer, chromium } from "playwright-core"

/**
 * Chromium's paths on Debian and other systems. The headless shell has the same engine without
 * windows, and takes a quarter less CPU time.
 */
const places = [
  process.env["CHROMIUM"],
  "/usr/bin/chromium-headless-shell",
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
    // Chromium's sandbox does not work for root. The browser loads only the panel, so it does not
    // need a sandbox.
    args: ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]
  }
}

export const launchChromium = async (): Promise<Browser> => chromium.launch(options())

/** Starts a browser that all test files connect to. */
export const serveChromium = async (): Promise<BrowserServer> => chromium.launchServer(options())

/** Connects to the browser. Closing the connection does not stop the browser. */
export const connectToChromium = (endpoint: string): Promise<Browser> => chromium.connect(endpoint)
