/**
 * Takes screenshots of every page, wide and narrow, in light and dark mode, into
 * `packages/panel/screenshots`. `npm run screenshots -- cron` takes only screenshots whose names
 * contain `cron`, and `npm run screenshots -- --docs` takes the documentation's screenshots, into
 * `docs/pictures`. Chromium's headless shell puts letters on whole pixels, so for the documentation
 * name the whole browser in `CHROMIUM`.
 */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { stopAgents } from "../browser/support/agent.ts"
import { launchChromium } from "../browser/support/chromium.ts"
import { pagesOf, openPanelPage } from "../browser/support/pages.ts"
import { signIn, createUser } from "../browser/support/users.ts"
import { seed } from "../browser/support/seed.ts"
import { Service } from "../browser/support/service.ts"

const folder = join(import.meta.dirname, "../screenshots")
const docs = join(import.meta.dirname, "../../../docs/pictures")
const isForDocs = process.argv[2] === "--docs"
const wanted = isForDocs ? "" : (process.argv[2] ?? "")
const shown = new Set([
  "overview-1440-light",
  "chain-detail-1440-dark",
  "heartbeat-detail-1440-light"
])

await using service = await Service.start()
const person = await createUser(service.url)
await seed(person.client, service.url)
const browser = await launchChromium()
mkdirSync(isForDocs ? docs : folder, { recursive: true })

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1440, 390]) {
    const context = await browser.newContext({
      viewport: { width, height: width === 390 ? 844 : 900 },
      isMobile: width === 390,
      hasTouch: width === 390,
      colorScheme,
      timezoneId: "Europe/Berlin",
      locale: "en-GB",
      reducedMotion: "reduce"
    })
    const page = await context.newPage()
    const pages = await pagesOf(person)
    const take = async (isPublic: boolean) => {
      for (const one of pages.filter(({ isPublic: isOpen }) => isOpen === isPublic)) {
        const name = `${one.name}-${width}-${colorScheme}`
        if (isForDocs ? !shown.has(name) : !one.name.includes(wanted)) continue
        await openPanelPage(page, service.url, one)
        // Filling in a field may have scrolled the page.
        await page.evaluate(() => scrollTo(0, 0))
        await page.screenshot({
          path: join(isForDocs ? docs : folder, `${name}.png`),
          fullPage: !isForDocs,
          // On a busy machine, a colour transition can still be running.
          animations: "disabled"
        })
        await one.after?.(page)
      }
    }
    await take(true)
    await signIn(page, service.url, person)
    await take(false)
    await context.close()
  }
}

await browser.close()
await stopAgents()
