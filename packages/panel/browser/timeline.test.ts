import type { ActivityTimeline } from "@scheduling/sdk"
import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"
import { measureWork } from "./support/vitals.ts"

const explainedMarks = [
  "Runs (the more, the higher):",
  "Succeeded",
  "Failed",
  "Queued or running",
  "Cancelled or skipped",
  "Planned",
  "Also in a lane:",
  "Failing or down now, beside the name",
  "Incident, at the bottom",
  "Change, at the top",
  "Notification, at the top",
  "Paused",
  "Selected period"
]

/** The limit for changes that live events announce. Polling takes longer. */
const soon = { timeout: 5_000 }

describe.skipIf(skipReason !== undefined)("the timeline", () => {
  const panel = usePanel()

  it("counts runs live, and opens the executions of a selected period", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client } = person
    const { id } = await client.cron.create({
      name: "Nightly report",
      schedule: "0 3 * * *",
      url: `${panel.url()}/v1/echo`
    })
    await client.cron.runAndWait(id)
    await page.goto(`${panel.url()}/w/${person.workspaceId}`)
    await page.getByRole("link", { name: "Timeline" }).click()
    const legend = page.getByRole("group", { name: "Legend" })
    expect((await legend.innerText()).split(/\n+/)).toEqual(explainedMarks)
    await page.getByText("Show as a table").click()
    const row = page.getByRole("row", { name: /^Nightly report/ })
    const succeeded = row.getByRole("cell").nth(2)
    await expect.poll(() => succeeded.textContent()).toBe("1")
    await client.cron.runAndWait(id)
    await expect.poll(() => succeeded.textContent(), { timeout: 25_000 }).toBe("2")

    await page.getByRole("button", { name: "7 days" }).click()
    await page.waitForURL(/from=/)
    await expect.poll(() => row.getByRole("cell").nth(5).textContent()).toMatch(/^[23]$/)
    const canvas = page.getByRole("application", { name: /Timeline/ })
    await canvas.focus()
    // The changes are reached first, then the task.
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    await page
      .getByRole("status")
      .getByText(/^Nightly report, /)
      .waitFor()
    await page.keyboard.press("Enter")
    await page.getByRole("main").getByRole("link", { name: "Executions" }).click()
    await page.waitForURL(new RegExp(`task_id=${id}`))
    expect(new URL(page.url()).searchParams.get("from")).toBeTruthy()
    await expect
      .poll(() => page.getByRole("main").getByText("Succeeded").count())
      .toBeGreaterThan(1)
    expect(problems).toEqual([])
  })

  it("shows at once which records were paused, by whom and since when", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client } = person
    const { id } = await client.cron.create({
      name: "Nightly report",
      schedule: "0 3 * * *",
      url: `${panel.url()}/v1/echo`
    })
    const monitor = await client.heartbeatMonitors.create({
      name: "Backup",
      period_seconds: 3_600
    })
    const [from, to] = [-60, 600].map((seconds) => new Date(Date.now() + seconds * 1_000))
    const period = `from=${from?.toISOString()}&to=${to?.toISOString()}`
    await page.goto(`${panel.url()}/w/${person.workspaceId}/timeline?${period}`)
    await page.getByText("Show as a table").click()
    const pauseOf = (name: RegExp) => page.getByRole("row", { name }).getByRole("cell").last()
    await expect.poll(() => pauseOf(/^Nightly report/).textContent()).toBe("")
    // The second lane from above is the task, below the changes. Its plans are not in this period.
    const canvas = page.getByRole("application", { name: /Timeline/ })
    const coloursOfLane = () =>
      canvas.evaluate((element: HTMLCanvasElement) => {
        const [x, y] = [element.width - 60, (32 + 28 + 6) * devicePixelRatio]
        const pixels = element.getContext("2d")?.getImageData(x, y, 40, 16 * devicePixelRatio).data
        return new Set(new Uint32Array(pixels?.buffer ?? new ArrayBuffer())).size
      })
    const unpaused = await coloursOfLane()
    // The timeline itself is fetched every ten seconds.
    await client.cron.pause(id)
    await client.heartbeatMonitors.pause(monitor.id)
    const since = /^by Ada Lovelace since /
    await expect.poll(() => pauseOf(/^Nightly report/).textContent(), soon).toMatch(since)
    await expect.poll(() => pauseOf(/^Backup/).textContent(), soon).toMatch(since)
    await expect.poll(coloursOfLane).toBeGreaterThan(unpaused)
    await canvas.focus()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    await page
      .getByRole("status")
      .getByText(/^Nightly report, .*: paused by .* since /)
      .waitFor()
    // Touch screens have no hover, so the pause is also shown when a period is selected: with a
    // tap or, as here, with Enter.
    await page.keyboard.press("Enter")
    await page.getByText(/^Paused by Ada Lovelace since /).waitFor()
    await client.cron.resume(id)
    const past = /^by Ada Lovelace from .* to /
    await expect.poll(() => pauseOf(/^Nightly report/).textContent(), soon).toMatch(past)
    expect(problems).toEqual([])
  })

  it("shows only the lanes with a problem in the period", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client } = person
    const task = { schedule: "0 3 * * *", retry_count: 0 }
    const good = { ...task, name: "Accounts", url: `${panel.url()}/v1/echo` }
    const bad = { ...task, name: "Invoices", url: `${panel.url()}/nowhere` }
    for (const input of [good, bad]) {
      await client.cron.runAndWait((await client.cron.create(input)).id)
    }
    const failing = (await client.activity.failing()).data[0]?.task_id ?? ""
    await page.goto(`${panel.url()}/w/${person.workspaceId}/timeline`)
    await page.getByText("Show as a table").click()
    const rows = page.getByRole("region", { name: "Timeline as a table" }).getByRole("rowheader")
    const problemFirst = ["Changes", "Invoices", "Accounts"]
    await expect.poll(() => rows.allInnerTexts()).toEqual(problemFirst)
    await page.getByRole("checkbox", { name: "Problems only" }).check()
    await expect.poll(() => rows.allInnerTexts()).toEqual(["Invoices"])
    await page.waitForURL(/only=problems/)
    // A period of yesterday has no failure.
    const [from, to] = [30, 20].map((hours) => new Date(Date.now() - hours * 3_600_000))
    const period = `from=${from?.toISOString()}&to=${to?.toISOString()}`
    await page.goto(`${panel.url()}/w/${person.workspaceId}/timeline?only=problems&${period}`)
    await page.getByText("In this period, no run failed and no incident was open.").waitFor()

    // Lanes do not move away from the pointer.
    await page.goto(`${panel.url()}/w/${person.workspaceId}/timeline`)
    await page.getByText("Show as a table").click()
    await expect.poll(() => rows.allInnerTexts()).toEqual(problemFirst)
    await page.getByRole("application", { name: /Timeline/ }).hover({ position: { x: 300, y: 50 } })
    const isRecovered = page.waitForResponse(
      async (answer) =>
        answer.url().includes("/activity/failing") && (await answer.json()).data.length === 0
    )
    await client.cron.update(failing, { url: good.url })
    await client.cron.runAndWait(failing)
    await (await isRecovered).finished()
    await page
      .getByRole("row", { name: /^Invoices/ })
      .getByRole("cell")
      .nth(2)
      .getByText("1")
      .waitFor()
    expect(await rows.allInnerTexts()).toEqual(problemFirst)
    await page.mouse.move(0, 0)
    await expect.poll(() => rows.allInnerTexts()).toEqual(["Changes", "Accounts", "Invoices"])
    expect(problems).toEqual([])
  })

  it("says that a part could not be fetched, and keeps the lanes", async () => {
    const { page, person } = await panel.openAs()
    await person.client.queues.create({ name: "Billing", max_concurrency: 1 })
    let fails = true
    await page.route(/\/notifications\/deliveries\?/, (route) =>
      fails
        ? route.fulfill({
            status: 500,
            json: { detail: { error: "internal_error", message: "An internal error occurred." } }
          })
        : route.fallback()
    )
    await page.goto(`${panel.url()}/w/${person.workspaceId}/timeline`)
    const alert = page.getByRole("main").getByRole("alert")
    await alert.getByText("An internal error occurred.").waitFor()
    await page.getByText("Show as a table").click()
    await page.getByRole("row", { name: /^Billing/ }).waitFor()
    fails = false
    await alert.waitFor({ state: "detached" })
    await page.getByRole("row", { name: /^Billing/ }).waitFor()
  })

  it("has all its buttons in one row on a tablet", async () => {
    const { page, person } = await panel.openAs(undefined, {
      viewport: { width: 768, height: 1024 }
    })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/timeline`)
    const tops = ["Earlier", "Zoom out", "1 hour", "All"].map(async (name) => {
      const box = await page.getByRole("button", { name, exact: true }).boundingBox()
      return box?.y
    })
    expect([...new Set(await Promise.all(tops))]).toEqual([expect.any(Number)])
  })

  it("pans 500 lanes with 100,000 marks without late frames", async () => {
    const { page, person, problems } = await panel.openAs(undefined, {
      viewport: { width: 1440, height: 900 }
    })
    // The service would need hours to run this many tasks.
    await page.route("**/activity/timeline?*", async (route) => {
      const answer = await route.fetch()
      await route.fulfill({ response: answer, json: crowded(await answer.json()) })
    })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/timeline`)
    const canvas = page.getByRole("application", { name: /Timeline/ })
    await canvas.waitFor()
    expect(await page.locator("tr").count()).toBe(0)
    const box = await canvas.boundingBox()
    if (box === null) throw new Error("the canvas is not on the screen")
    // The page has settled once ten frames in a row are on time. On a busy machine, this may never
    // happen.
    await page.evaluate(async () => {
      let last = await new Promise<number>(requestAnimationFrame)
      for (let all = 0, calm = 0; all < 300 && calm < 10; all++) {
        const at = await new Promise<number>(requestAnimationFrame)
        calm = at - last < 25 ? calm + 1 : 0
        last = at
      }
    })
    const frames = 120
    await page.mouse.move(box.x + 800, box.y + 300)
    await page.mouse.down()
    let took: ReadonlyArray<number> = []
    const work = await measureWork(page, async () => {
      took = await page.evaluate(async (count) => {
        const shown = document.querySelector("canvas")
        const between: Array<number> = []
        let last = await new Promise(requestAnimationFrame)
        for (let frame = 0; frame < count; frame++) {
          const clientX = 900 + (frame % 60) * 5
          const options = { bubbles: true, pointerId: 1, clientX, clientY: 500 }
          shown?.dispatchEvent(new PointerEvent("pointermove", options))
          const at = await new Promise(requestAnimationFrame)
          between.push(at - last)
          last = at
        }
        return between
      }, frames)
    })
    await page.mouse.up()
    const sorted = took.toSorted((one, other) => one - other)
    const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? Infinity).toFixed(1)
    console.info(
      `The timeline: a frame every ${at(0.5)} ms, ${at(0.95)} ms at p95, ` +
        `${(work.processor / frames).toFixed(1)} ms of a processor per frame`
    )
    // The limit is the duration of three frames at 60 frames per second, because the machine may be
    // busy and renders in software.
    expect(work.processor / frames).toBeLessThan(50)
    expect(problems).toEqual([])
  })
})

/** Fills the response with 500 lanes, each with 200 marks and 3 pauses. */
const crowded = (answer: ActivityTimeline): ActivityTimeline => {
  const buckets = (Date.parse(answer.to) - Date.parse(answer.from)) / answer.bucket_seconds / 1_000
  const marks = Array.from({ length: 200 }, (_, index) => Math.floor((index * buckets) / 200))
  const pairs = (from: number, to: number) =>
    marks.flatMap((bucket, index) =>
      index % 10 >= from && index % 10 < to ? [bucket, 1 + (index % 7)] : []
    )
  const lanes = Array.from({ length: 500 }, (_, index) => ({
    kind: "cron" as const,
    task_id: `019a9f3c-5b1e-7c4a-9d2f-${String(index).padStart(12, "0")}`,
    name: `Task ${index}`,
    tags: [`tag ${index % 9}`],
    queue_id: null,
    paused: false,
    succeeded: pairs(0, 6),
    failed: pairs(6, 7),
    other: pairs(7, 8),
    running: pairs(8, 9),
    planned: pairs(9, 10)
  }))
  const at = (share: number) =>
    new Date(Date.parse(answer.from) + share * buckets * answer.bucket_seconds * 1_000)
  const pauses = lanes.flatMap(({ task_id }) =>
    [0.2, 0.5, 0.8].map((start) => ({
      subject_id: task_id,
      paused_at: at(start).toISOString(),
      resumed_at: at(start + 0.1).toISOString(),
      paused_by: null,
      reason: null
    }))
  )
  return { ...answer, lanes, pauses }
}
