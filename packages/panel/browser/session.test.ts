import type { Request } from "playwright-core"
import { describe, expect, it } from "vitest"
import { setVisibility } from "./support/setVisibility.ts"
import { skipReason, useOwnPanel } from "./support/panel.ts"
import { password, signIn, signOut, createUser } from "./support/users.ts"

describe.skipIf(skipReason !== undefined)("being signed in", () => {
  const panel = useOwnPanel()

  it("leads from an account to a task that has run", async () => {
    const { page, problems } = await panel.open()
    await page.goto(panel.url())
    // This server has no accounts yet.
    await page.getByRole("heading", { name: "Create the first account" }).waitFor()
    await page.getByText("Scheduling Service", { exact: true }).waitFor()
    await page.getByLabel("Name").fill("Ada")
    await page.getByLabel("Email").fill("ada@example.com")
    await page.getByLabel("Password").fill(password)
    await page.getByRole("button", { name: "Create account" }).click()
    await page.getByRole("link", { name: /Call a URL on a schedule/ }).click()
    const later = await panel.open()
    await later.page.goto(panel.url())
    await later.page.getByRole("heading", { name: "Sign in" }).waitFor()
    await later.context.close()
    await page.getByLabel("Name", { exact: true }).fill("Warm the cache")
    await page.getByLabel("URL", { exact: true }).fill(`${panel.url()}/v1/echo`)
    await page.getByRole("button", { name: "Hourly" }).click()
    await page.getByText("Every hour").waitFor()
    await page.getByRole("button", { name: "Create cron task" }).click()
    await page.getByRole("heading", { name: "Warm the cache" }).waitFor()
    await page.getByRole("button", { name: "Run now" }).click()
    await page.getByRole("row", { name: /Succeeded.*200/ }).waitFor()
    expect(problems).toEqual([])
  })

  it("hides the refresh token from scripts, and stores no token beyond the page", async () => {
    const person = await createUser(panel.url())
    const { context, page } = await panel.open()
    await signIn(page, panel.url(), person)
    const seen = await page.evaluate(() => [document.cookie, JSON.stringify({ ...localStorage })])
    expect(seen.join()).not.toContain("eyJ")
    const [cookie] = await context.cookies(`${panel.url()}/panel/session`)
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/panel/session" })
  })

  it("continues after a reload on the same page", async () => {
    const person = await createUser(panel.url())
    const { page } = await panel.open()
    const path = `/w/${person.workspaceId}/cron?status=paused`
    await page.goto(panel.url() + path)
    await page.getByLabel("Email").fill(person.email)
    await page.getByLabel("Password").fill(password)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.waitForURL(`**${path}`)
    await page.reload()
    await page.getByRole("heading", { name: "Cron tasks" }).waitFor()
  })

  it("ends in all tabs simultaneously", async () => {
    const { context, page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}`)
    const other = await context.newPage()
    await other.goto(`${panel.url()}/w/${person.workspaceId}/cron`)
    await other.getByRole("heading", { name: "Cron tasks" }).waitFor()
    await signOut(page)
    await other.getByRole("heading", { name: "Sign in" }).waitFor()
    await other.goto(`${panel.url()}/w/${person.workspaceId}/cron`)
    await other.getByRole("heading", { name: "Sign in" }).waitFor()
  })

  it("ends from a menu that stays in the window while the page loads", async () => {
    const { page, person } = await panel.openAs()
    let show = () => {}
    const isShown = new Promise<void>((resolve) => {
      show = resolve
    })
    await page.route("**/executions/stats*", async (route) => {
      await isShown
      await route.continue()
    })
    await page.goto(`${panel.url()}/w/${person.workspaceId}`)
    await page.getByRole("button", { name: "Your account" }).click()
    const signOutItem = page.getByRole("menuitem", { name: "Sign out" })
    await signOutItem.waitFor()
    show()
    await page.getByRole("heading", { name: "Next runs" }).waitFor()
    await signOutItem.click({ timeout: 5_000 })
    await page.getByRole("heading", { name: "Sign in" }).waitFor()
  })

  it("leads to no other site after the sign-in", async () => {
    const person = await createUser(panel.url())
    for (const next of ["//evil.example", "https://evil.example", "/\\evil.example"]) {
      const { context, page } = await panel.open()
      await page.goto(`${panel.url()}/sign-in?next=${encodeURIComponent(next)}`)
      await page.getByLabel("Email").fill(person.email)
      await page.getByLabel("Password").fill(password)
      await page.getByRole("button", { name: "Sign in" }).click()
      await page.waitForURL(/\/w\//)
      expect(new URL(page.url()).origin).toBe(panel.url())
      await context.close()
    }
  })

  it("explains why a password is rejected", async () => {
    const { email } = await createUser(panel.url())
    const { page } = await panel.open()
    await page.goto(`${panel.url()}/sign-in`)
    await page.getByLabel("Email").fill(email)
    await page.getByLabel("Password").fill("not the right password")
    await page.getByRole("button", { name: "Sign in" }).click()
    const alert = page.getByRole("alert")
    await alert.waitFor()
    expect(await alert.textContent()).toMatch(/The email or the password is wrong\.Request \S+/)
    const isFocused = page.getByLabel("Password").evaluate((it) => it === document.activeElement)
    expect(await isFocused).toBe(true)
  })

  it("continues after a token is rejected", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}`)
    let refused = 0
    await page.route("**/v1/workspaces/*/cron*", async (route) => {
      if (refused++ > 0) return route.continue()
      // The service's response to an expired token.
      await route.fulfill({
        status: 401,
        json: { detail: { error: "invalid_token", message: "It has expired." } }
      })
    })
    await page.getByRole("link", { name: "Cron tasks" }).click()
    await page.getByText("No cron tasks yet").waitFor()
    expect(refused).toBeGreaterThan(1)
  })

  it("renews an expired token silently", async () => {
    const { page, person } = await panel.openAs()
    await page.clock.install()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/new`)
    await page.getByLabel("Name", { exact: true }).fill("Written slowly")
    await page.getByLabel("URL", { exact: true }).fill(`${panel.url()}/v1/echo`)
    await page.getByLabel("Schedule").fill("0 3 * * *")
    await page.clock.fastForward("20:00")
    const renewed = page.waitForResponse(
      (answer) => answer.url().endsWith("/panel/session") && answer.request().method() === "PUT"
    )
    await page.getByRole("button", { name: "Create cron task" }).click()
    expect((await renewed).status()).toBe(200)
    await page.getByRole("heading", { name: "Written slowly" }).waitFor()
  })

  it("makes no requests in a hidden tab", async () => {
    const { page, person } = await panel.openAs()
    await page.clock.install()
    const pending = new Set<Request>()
    page
      .on("request", (request) => pending.add(request))
      .on("requestfinished", (request) => pending.delete(request))
      .on("requestfailed", (request) => pending.delete(request))
    await page.goto(`${panel.url()}/w/${person.workspaceId}/executions`)
    await page.getByText("Live").waitFor()
    await setVisibility(page, "hidden")
    await page.getByText("Live").waitFor({ state: "detached" })
    // The page completes the action that was in progress.
    await expect
      .poll(async () => {
        await page.clock.runFor("00:01")
        return pending.size
      })
      .toBe(0)
    const asked: Array<string> = []
    // Requests for the panel's own files do not count.
    page.on("request", (request) => {
      if (!request.url().includes("/assets/")) asked.push(request.url())
    })
    await page.clock.runFor("10:00")
    expect(asked).toEqual([])
    await setVisibility(page, "visible")
    await page.getByText("Live").waitFor()
    expect(asked.length).toBeGreaterThan(0)
  })

  it("creates a first heartbeat monitor and a first key", async () => {
    const { page, person, problems } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}`)
    await page.getByRole("button", { name: /Monitor a job/ }).click()
    await page.getByRole("button", { name: "Create heartbeat monitor" }).click()
    const ping = await page.getByRole("region", { name: "Ping: curl" }).textContent()
    const url = /http\S+/.exec(ping ?? "")?.[0] ?? ""
    await page.getByText("Waiting for the first ping.").waitFor()
    expect((await fetch(url)).status).toBe(200)
    await page.getByText("The first ping has arrived.").waitFor()
    await page.getByRole("tab", { name: "crontab" }).click()
    const crontab = await page.getByRole("region", { name: "Ping: crontab" }).textContent()
    expect(crontab, "it reports failures too").toContain("backup; curl")
    expect(crontab).toContain("$PING_URL/$?")
    await page.keyboard.press("Escape")
    await page.getByRole("button", { name: /Monitor a job · Done/ }).waitFor()
    await page.reload()
    await page.getByRole("button", { name: /Monitor a job · Done/ }).waitFor()
    await page.getByRole("button", { name: /Use the API/ }).click()
    await page.getByRole("button", { name: "Create API key" }).click()
    const key = await page.getByRole("region", { name: "API key" }).textContent()
    const answer = await fetch(`${panel.url()}/v1/whoami`, {
      headers: { authorization: `Bearer ${key}` }
    })
    expect(answer.status).toBe(200)
    await page.keyboard.press("Escape")
    await page.getByRole("button", { name: /Use the API · Done/ }).waitFor()
    await page.getByRole("button", { name: "Dismiss the first steps" }).click()
    await page.reload()
    await page.getByRole("heading", { name: "Next runs" }).waitFor()
    expect(await page.getByText("First steps").count()).toBe(0)
    expect(problems).toEqual([])
  })

  it("is shared by several tabs", async () => {
    const person = await createUser(panel.url())
    const { context, page } = await panel.open()
    await signIn(page, panel.url(), person)
    const pages = await Promise.all([context.newPage(), context.newPage(), context.newPage()])
    await Promise.all(pages.map((one) => one.goto(`${panel.url()}/w/${person.workspaceId}/cron`)))
    for (const one of pages) await one.getByRole("heading", { name: "Cron tasks" }).waitFor()
  })

  it("waits for an unreachable service and continues", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/new`)
    await page.getByLabel("Name", { exact: true }).fill("Late")
    await panel.service().stop()
    await page.getByLabel("URL", { exact: true }).fill(`${panel.url()}/v1/echo`)
    await page.getByLabel("Schedule").fill("0 3 * * *")
    await page.getByRole("button", { name: "Create cron task" }).click()
    await page.getByText("The service cannot be reached.").first().waitFor()
    await panel.service().start()
    await page.getByRole("button", { name: "Create cron task" }).click()
    await page.getByRole("heading", { name: "Late" }).waitFor()
    expect(await person.client.cron.list().toArray({ limit: 5 })).toHaveLength(1)
  })
})
