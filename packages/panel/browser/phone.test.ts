import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"

const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }

/** Returns the controls that are too small for a thumb, and the fields that iOS would zoom into. */
const smallControls = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("button, select, input, [role=tab], [role=menuitem]")]
      .filter((control) => !control.matches("[type=checkbox], [type=radio]"))
      .flatMap((control) => {
        const { height, width } = control.getBoundingClientRect()
        const isField = control.matches("input, select")
        const fontSize = Number.parseFloat(getComputedStyle(control).fontSize)
        return (height > 0 && height < 40) || (isField && width > 0 && fontSize < 16)
          ? [control.outerHTML.slice(0, 120)]
          : []
      })
  )

describe.skipIf(skipReason !== undefined)("on a phone", () => {
  const panel = usePanel()

  it("a row shows its whole text, and the next row begins below it", async () => {
    const { page, person, problems } = await panel.openAs(undefined, phone)
    const name = "Export of all invoices of the last month to the tax office"
    for (const number of [1, 2, 3]) {
      await person.client.cron.create({
        name: `${name} ${number}`,
        schedule: "0 3 * * *",
        url: `${panel.url()}/v1/echo`
      })
    }
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron`)
    const link = page.getByRole("link", { name: `${name} 3` })
    await link.waitFor()
    const isCut = await link.evaluate(
      ({ clientHeight, clientWidth, scrollHeight, scrollWidth }) =>
        scrollWidth > clientWidth || scrollHeight > clientHeight
    )
    expect(isCut).toBe(false)
    const gaps = () =>
      page.evaluate(() => {
        const boxes = [...document.querySelectorAll("[role=row][data-index]")].map((row) =>
          row.getBoundingClientRect()
        )
        return boxes.slice(1).map(({ top }, index) => Math.round(top - (boxes[index]?.bottom ?? 0)))
      })
    await expect.poll(gaps).toEqual([0, 0])
    await page
      .getByRole("row", { name: `${name} 3` })
      .getByText("Next run")
      .waitFor()
    expect(problems).toEqual([])
  })

  it("the filters of the executions are behind a button that counts them", async () => {
    const { page, person } = await panel.openAs(undefined, phone)
    await page.goto(`${panel.url()}/w/${person.workspaceId}/executions?kind=cron`)
    const filters = page.getByRole("button", { name: "Filters (1)" })
    await filters.waitFor()
    expect(await page.getByLabel("Status code").isVisible()).toBe(false)
    await filters.click()
    await page.getByRole("button", { name: "Failed" }).click()
    await page.getByRole("button", { name: "Filters (2)" }).waitFor()
  })

  it("controls are large enough for a thumb", async () => {
    const { page, person } = await panel.openAs(undefined, phone)
    for (const path of ["", "/executions", "/cron/new", "/monitors", "/notifications/rules"]) {
      await page.goto(`${panel.url()}/w/${person.workspaceId}${path}`)
      await page.getByRole("heading", { level: 1 }).waitFor()
      await page.waitForFunction(() => document.querySelector("[aria-busy=true]") === null)
      await expect.poll(() => smallControls(page), { message: path }).toEqual([])
    }
    await page.getByRole("button", { name: "Menu" }).click()
    await page.getByRole("link", { name: "Incidents" }).waitFor()
    await expect.poll(() => smallControls(page), { message: "the menu" }).toEqual([])
  })
})

describe.skipIf(skipReason !== undefined)("on a tablet", () => {
  const panel = usePanel()

  it("the menu leaves the whole width to the page", async () => {
    const { page, person } = await panel.openAs(undefined, {
      viewport: { width: 768, height: 1024 }
    })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/incidents`)
    await page.getByRole("heading", { name: "Incidents" }).waitFor()
    expect((await page.getByRole("main").boundingBox())?.width).toBeGreaterThan(740)
    await page.getByRole("button", { name: "Menu" }).click()
    await page.getByRole("link", { name: "Cron tasks" }).click()
    await page.getByRole("heading", { name: "Cron tasks" }).waitFor()
  })
})
