import type { Page } from "playwright-core"

/** Lighthouse's metrics, as reported by the browser. */
interface Vitals {
  /** The time of the largest contentful paint. */
  largestPaint: number
  /** The cumulative layout shift. */
  shift: number
  /** The total blocking time: the parts of long tasks beyond 50 ms. */
  blocked: number
  bytes: number
  requests: number
}

/** Starts measuring every page that is opened later. */
export const recordVitals = (page: Page) =>
  page.addInitScript(() => {
    const vitals = { largestPaint: 0, shift: 0, blocked: 0 }
    Object.assign(globalThis, { vitals })
    const observe = (type: string, seen: (entry: PerformanceEntry) => void) =>
      new PerformanceObserver((list) => list.getEntries().forEach(seen)).observe({
        type,
        buffered: true
      })
    observe("largest-contentful-paint", ({ startTime }) => (vitals.largestPaint = startTime))
    observe("layout-shift", (entry) => {
      const { hadRecentInput, value } = entry as PerformanceEntry & {
        readonly hadRecentInput: boolean
        readonly value: number
      }
      if (!hadRecentInput) vitals.shift += value
    })
    observe("longtask", ({ duration }) => (vitals.blocked += Math.max(0, duration - 50)))
  })

export const vitalsOf = (page: Page): Promise<Vitals> =>
  page.evaluate(() => {
    const resources = performance.getEntriesByType("resource") as Array<PerformanceResourceTiming>
    const { vitals } = globalThis as unknown as {
      readonly vitals: Omit<Vitals, "bytes" | "requests">
    }
    return {
      ...vitals,
      bytes: resources.reduce((sum, { transferSize }) => sum + transferSize, 0),
      requests: resources.filter(({ name }) => name.includes("/v1/")).length
    }
  })

/** How many milliseconds the page spent working. */
interface Work {
  /** CPU time, which is independent of other load on the machine. */
  readonly processor: number
  readonly scripts: number
  /** Time for style recalculation and layout. */
  readonly layout: number
}

/** Measures how much time the page spends working during an action. */
export const measureWork = async (page: Page, done: () => Promise<unknown>): Promise<Work> => {
  const session = await page.context().newCDPSession(page)
  await session.send("Performance.enable")
  const read = async () => {
    const { metrics } = await session.send("Performance.getMetrics")
    const seconds = new Map(metrics.map(({ name, value }) => [name, value]))
    return (name: string) => (seconds.get(name) ?? 0) * 1_000
  }
  const before = await read()
  await done()
  const after = await read()
  await session.detach()
  const spent = (name: string) => after(name) - before(name)
  return {
    processor: spent("ThreadTime"),
    scripts: spent("ScriptDuration"),
    layout: spent("LayoutDuration") + spent("RecalcStyleDuration")
  }
}
