import { describe, expect, it } from "vitest"
import { skipReason, useOwnPanel } from "./support/panel.ts"

describe.skipIf(skipReason !== undefined)("a page whose code cannot be loaded", () => {
  const panel = useOwnPanel()

  it("shows the problem while the service is away, and recovers", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}`)
    await page.getByRole("heading", { name: "Overview" }).waitFor()
    await panel.service().stop()
    await page.getByRole("status").getByText("The service cannot be reached.").waitFor()
    await page.getByRole("link", { name: "Monitors" }).click()
    const alert = page.getByRole("main").getByRole("alert")
    await alert.getByText("The service cannot be reached.").waitFor()
    expect(page.url()).toContain(`/w/${person.workspaceId}/monitors`)
    await panel.service().start()
    // The page recovers without any click.
    await page.getByText("No monitors yet").waitFor()
    await page.getByText("This page may be out of date.").waitFor({ state: "detached" })
  })

  it("is reloaded once after a new version was installed", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}`)
    await page.getByRole("heading", { name: "Overview" }).waitFor()
    await page.route("**/assets/MonitorListPage-*.js", (route) => route.fulfill({ status: 404 }))
    let isNew = true
    let loads = 0
    await page.route(`${panel.url()}/`, (route) =>
      isNew
        ? route.fulfill({
            contentType: "text/html",
            body: '<script type="module" crossorigin src="/assets/index-other.js"></script>'
          })
        : route.fallback()
    )
    page.on("request", (request) => {
      if (request.isNavigationRequest()) loads++
    })
    await page.getByRole("link", { name: "Monitors" }).hover()
    await page.getByRole("link", { name: "Monitors" }).click()
    // In this test, the reloaded page still refers to the missing file.
    await page.getByText("A new version was installed.").waitFor()
    expect(loads).toBe(1)
    isNew = false
    await page.unroute("**/assets/MonitorListPage-*.js")
    await page.getByRole("button", { name: "Try again" }).click()
    await page.getByText("No monitors yet").waitFor()
    expect(loads).toBe(1)
  })
})
