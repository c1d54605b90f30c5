import type { Page } from "playwright-core"
import { loadavg } from "node:os"
import { describe, expect, it } from "vitest"
import { fillHistory, makeTasks } from "./support/history.ts"
import { skipReason, useOwnPanel } from "./support/panel.ts"
import { measureWork } from "./support/vitals.ts"

/**
 * The URL of an empty PostgreSQL database. If it is set, the test measures the numbers for
 * `docs/performance.md`.
 */
const databaseUrl = process.env["PANEL_DATABASE_URL"]
const tasks = Number(process.env["PANEL_TASKS"] ?? 10_000)
const executions = Number(process.env["PANEL_EXECUTIONS"] ?? 1_000_000)

interface Place {
  readonly name: string
  readonly path: string
  /** A selector for an element that exists once the page is usable. */
  readonly shows: string
  readonly isList: boolean
}

const places: ReadonlyArray<Place> = [
  { name: "Cron tasks", path: "/cron", shows: `[aria-label="Cron tasks"] a`, isList: true },
  { name: "Executions", path: "/executions", shows: `[aria-label=Executions] a`, isList: true },
  { name: "Overview", path: "", shows: `[aria-label=Executions] a`, isList: false }
]

/**
 * Opens a page through its menu link. Returns how many milliseconds it takes until the page is
 * usable.
 */
const press = (page: Page, { name, path, shows }: Place): Promise<number> =>
  page.evaluate(
    async ({ name, path, shows }) => {
      performance.clearResourceTimings()
      const links = document.querySelectorAll<HTMLElement>("nav[aria-label=Workspace] a")
      const begun = performance.now()
      ;[...links].find(({ textContent }) => textContent === name)?.click()
      const isThere = () =>
        location.pathname.replace(/^\/w\/[^/]+/, "") === path &&
        document.querySelector("h1")?.textContent === name &&
        document.querySelector(shows) !== null &&
        document.querySelector("main .shimmer, main [aria-busy=true]") === null
      while (!isThere()) await new Promise(requestAnimationFrame)
      return performance.now() - begun
    },
    { name, path, shows }
  )

/** Opens a small page, which the other pages are opened from. */
const rest = async (page: Page) => {
  await page.getByRole("heading", { name: "Queues", level: 1 }).waitFor()
  await page.waitForFunction(
    () => document.querySelector("main .shimmer, main [aria-busy=true]") === null
  )
}

/** Returns the API requests that followed the last click, slowest first. */
const slowest = (page: Page) =>
  page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .filter(({ name }) => name.includes("/v1/"))
      .toSorted((one, other) => other.duration - one.duration)
      .slice(0, 2)
      .map(({ duration, name }) => {
        const { pathname } = new URL(name)
        return `${pathname.split("/").slice(4).join("/")} ${Math.round(duration)} ms`
      })
  )

const median = (values: ReadonlyArray<number>) =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Infinity

describe.skipIf(skipReason !== undefined || databaseUrl === undefined)("a long history", () => {
  const panel = useOwnPanel({
    DATABASE_URL: databaseUrl,
    APP_SECRET: "a secret for measuring, thirty-two bytes and more"
  })

  it("slows down no page", { timeout: 1_800_000 }, async () => {
    const { page, person, problems } = await panel.openAs()
    const w = `${panel.url()}/w/${person.workspaceId}`
    await page.goto(`${w}/queues`)
    await makeTasks(person.client, `${panel.url()}/v1/echo`, tasks)
    await fillHistory(databaseUrl ?? "", person.workspaceId, executions)
    for (const place of places) {
      const unread: Array<number> = []
      const read: Array<number> = []
      let requests: ReadonlyArray<string> = []
      for (let round = 0; round < 7; round++) {
        await page.goto(`${w}/queues`)
        await rest(page)
        unread.push(await press(page, place))
        requests = await slowest(page)
        await page.getByRole("link", { name: "Queues", exact: true }).click()
        await rest(page)
        read.push(await press(page, place))
      }
      console.info(
        `${place.name} of ${tasks} tasks and ${executions} executions: usable ${Math.round(median(unread))} ms after the press, ` +
          `${Math.round(median(read))} ms if read before; ${requests.join(", ")}; load ${loadavg()[0]?.toFixed(1)}`
      )
      // The limit is ten times the goal, because the machine may be busy.
      expect(median(unread)).toBeLessThan(3_000)
      if (!place.isList) continue

      const frames = 240
      let took: ReadonlyArray<number> = []
      const work = await measureWork(page, async () => {
        took = await page.evaluate(async (count) => {
          const between: Array<number> = []
          let last = await new Promise(requestAnimationFrame)
          for (let frame = 0; frame < count; frame++) {
            scrollBy(0, 40)
            const at = await new Promise(requestAnimationFrame)
            between.push(at - last)
            last = at
          }
          return between
        }, frames)
      })
      const perFrame = work.processor / frames
      const late = took.filter((ms) => ms > 25).length
      console.info(
        `${place.name}: ${perFrame.toFixed(1)} ms of a processor per frame of scrolling, ` +
          `a frame every ${median(took).toFixed(1)} ms, ${late} of ${frames} late; load ${loadavg()[0]?.toFixed(1)}`
      )
      expect(perFrame).toBeLessThan(50)
    }
    expect(problems).toEqual([])
  })
})
