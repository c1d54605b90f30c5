import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { skipReason, useOwnPanel, usePanel } from "./support/panel.ts"
import { totpCode } from "./support/totpCode.ts"
import { password, signIn, createUser } from "./support/users.ts"

describe.skipIf(skipReason !== undefined)("a session that expires while somebody types", () => {
  const panel = usePanel()

  it("keeps the input, asks for the password and continues", async () => {
    const { context, page, person, problems } = await panel.openAs()
    await page.clock.install()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/new`)
    const name = page.getByLabel("Name", { exact: true })
    await name.fill("Written slowly")
    await page.getByLabel("URL", { exact: true }).fill(`${panel.url()}/v1/echo`)
    await page.getByRole("textbox", { name: "Schedule" }).fill("0 3 * * *")
    await context.clearCookies()
    await page.clock.fastForward("20:00")
    // A background request could open the dialog first, and the dialog would then cover the button.
    await page.getByRole("button", { name: "Create cron task" }).dispatchEvent("click")
    const asked = page.getByRole("dialog", { name: "Your session has ended" })
    await asked.waitFor()
    expect(await name.inputValue()).toBe("Written slowly")
    expect(await asked.getByLabel("Email").inputValue()).toBe(person.email)
    await page.keyboard.press("Escape")
    await page.keyboard.press("Escape")
    await asked.getByLabel("Password").fill("not the right password")
    await asked.getByRole("button", { name: "Sign in" }).click()
    await asked.getByText("The email or the password is wrong.").waitFor()
    await asked.getByLabel("Password").fill(password)
    await asked.getByRole("button", { name: "Sign in" }).click()
    // The request that was rejected because the session had expired waits until the user signs in,
    // and is then retried.
    await page.getByRole("heading", { name: "Written slowly" }).waitFor()
    expect((await person.client.cron.list().toArray({ limit: 5 })).length).toBe(1)
    expect(problems).toEqual([])
  })

  it("asks for the password again if the dialog is dismissed at the code", async () => {
    const { context, page, person } = await panel.openAs()
    const { secret } = await person.client.totp.start({ current_password: password })
    await person.client.totp.confirm({ code: totpCode(secret) })
    await page.clock.install()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/queues`)
    await page.getByText("No queues yet").waitFor()
    await context.clearCookies()
    await page.clock.fastForward("20:00")
    await page.getByRole("link", { name: "Executions" }).focus()
    const asked = page.getByRole("dialog", { name: "Your session has ended" })
    await asked.getByLabel("Password").fill(password)
    await asked.getByRole("button", { name: "Sign in" }).click()
    await asked.getByLabel("Code").waitFor()
    await page.keyboard.press("Escape")
    await asked.getByLabel("Password").fill(password)
    await asked.getByRole("button", { name: "Sign in" }).click()
    await asked.getByLabel("Code").fill(totpCode(secret, 1))
    await asked.getByRole("button", { name: "Confirm code" }).click()
    await asked.waitFor({ state: "detached" })
  })

  it("expires in all tabs, and continues in all of them after one sign-in", async () => {
    const { context, page, person } = await panel.openAs()
    const other = await context.newPage()
    for (const one of [page, other]) {
      await one.clock.install()
      await one.goto(`${panel.url()}/w/${person.workspaceId}/cron`)
      await one.getByText("No cron tasks yet").waitFor()
    }
    await context.clearCookies()
    for (const one of [page, other]) await one.clock.fastForward("20:00")
    await page.getByRole("link", { name: "Executions" }).focus()
    const asked = (one: typeof page) => one.getByRole("dialog", { name: "Your session has ended" })
    for (const one of [page, other]) await asked(one).waitFor()
    await asked(other).getByLabel("Password").fill(password)
    await asked(other).getByRole("button", { name: "Sign in" }).click()
    for (const one of [page, other]) await asked(one).waitFor({ state: "detached" })
    await other.getByRole("link", { name: "Queues" }).click()
    await other.getByText("No queues yet").waitFor()
  })

  it("does not show the page to another account", async () => {
    const { context, page, person } = await panel.openAs()
    const stranger = await createUser(panel.url(), "Eve", "Elsewhere")
    await page.clock.install()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/queues`)
    await page.getByRole("button", { name: "New queue" }).first().click()
    await page.getByLabel("Name").fill("Ada's")
    await context.clearCookies()
    await page.clock.fastForward("20:00")
    await page.getByRole("button", { name: "Create queue" }).dispatchEvent("click")
    await page.getByRole("dialog", { name: "Your session has ended" }).waitFor()
    const other = await context.newPage()
    await signIn(other, panel.url(), stranger)
    await page.waitForURL(`**/w/${stranger.workspaceId}`)
    expect(await stranger.client.queues.list().toArray({ limit: 5 })).toEqual([])
    expect(await person.client.queues.list().toArray({ limit: 5 })).toEqual([])
  })
})

describe.skipIf(skipReason !== undefined)("another account", () => {
  const panel = usePanel()

  it("does not use the pages of the earlier one that are open in other tabs", async () => {
    const { context, page, person } = await panel.openAs()
    const stranger = await createUser(panel.url(), "Eve", "Elsewhere")
    await page.goto(`${panel.url()}/w/${person.workspaceId}/queues`)
    await page.getByText("No queues yet").waitFor()
    await signIn(await context.newPage(), panel.url(), stranger)
    await page.waitForURL(`**/w/${stranger.workspaceId}`)
  })

  it("is signed in from the page of an invitation", async () => {
    const { page, person } = await panel.openAs()
    const guest = await createUser(panel.url(), "Guest", "Elsewhere")
    const { token } = await person.client.invitations.create({ email: guest.email, role: "viewer" })
    await page.goto(`${panel.url()}/invitation#${token}`)
    await page.getByText(`Sign in as ${guest.email} to join.`).waitFor()
    await page.getByRole("button", { name: "Sign in with another account" }).click()
    await page.getByRole("heading", { name: "Sign in" }).waitFor()
    await page.getByLabel("Email").fill(guest.email)
    await page.getByLabel("Password").fill(password)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("button", { name: "Join workspace" }).click()
    await page.waitForURL(`**/w/${person.workspaceId}`)
  })
})

describe.skipIf(skipReason !== undefined)("a rejection", () => {
  const panel = usePanel()

  it("because of a role names the role, offers no retry and removes the buttons", async () => {
    const owner = await createUser(panel.url(), "Owner", "Shared")
    const editor = await createUser(panel.url(), "Editor", "Own")
    const { token } = await owner.client.invitations.create({ email: editor.email, role: "editor" })
    await editor.client.invitations.accept({ token: token ?? "" })
    const { page } = await panel.openAs(editor)
    await page.goto(`${panel.url()}/w/${owner.workspaceId}/queues`)
    await page.getByRole("button", { name: "New queue" }).first().click()
    await page.getByLabel("Name").fill("Mine")
    const { id } = await editor.client.auth.getMe()
    await owner.client.members.update(id, { role: "viewer" })
    await page.getByRole("button", { name: "Create queue" }).click()
    const alert = page.getByRole("alert")
    await alert.getByText(/Only an editor/).waitFor()
    await alert.getByText("You are a viewer.").waitFor()
    expect(await alert.getByRole("button", { name: "Try again" }).count()).toBe(0)
    await page.keyboard.press("Escape")
    await expect.poll(() => page.getByRole("button", { name: "New queue" }).count()).toBe(0)
    await page.goto(`${panel.url()}/w/${owner.workspaceId}/audit`)
    await page.getByText(/Only an admin/).waitFor()
    expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0)
  })

  it("because of the rate limit says when the page continues, also above a dialog", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/queues`)
    await page.getByRole("button", { name: "New queue" }).first().click()
    await page.getByLabel("Name").fill("Billing")
    let refused = 0
    await page.route("**/queues", async (route) => {
      if (route.request().method() !== "POST" || refused++ > 0) return route.fallback()
      await route.fulfill({
        status: 429,
        headers: { "retry-after": "3" },
        json: { detail: { error: "rate_limited", message: "Too many.", retry_after: 3 } }
      })
    })
    await page.getByRole("button", { name: "Create queue" }).click()
    const notice = page.getByText(/Too many requests. The page continues in \d s/)
    await notice.waitFor()
    const isOnTop = await notice.evaluate((element) => {
      const { left, top } = element.getBoundingClientRect()
      return element.matches(":popover-open") && left >= 0 && top >= 0
    })
    expect(isOnTop).toBe(true)
    await page.getByText("Billing was created").waitFor()
    await notice.waitFor({ state: "detached" })
  })
})

describe.skipIf(skipReason !== undefined)("a response of the service", () => {
  const panel = usePanel()
  const gone = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"

  it("404 says what may have happened, and is not repeated", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/executions/${gone}`)
    const alert = page.getByRole("alert")
    await alert.getByText("It may have been deleted, or the address is wrong.").waitFor()
    expect(await alert.getByRole("button", { name: "Try again" }).count()).toBe(0)
  })

  it("404 replaces a page whose record somebody deletes", async () => {
    const { page, person } = await panel.openAs()
    const { id } = await person.client.cron.create({
      name: "Nightly",
      schedule: "0 3 * * *",
      url: `${panel.url()}/v1/echo`
    })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/${id}`)
    await page.getByRole("button", { name: "Run now" }).waitFor()
    await person.client.cron.delete(id)
    await page.getByRole("alert").getByText("It may have been deleted").first().waitFor()
    // A section of the page can report the deletion before the page itself does.
    await page.getByRole("button", { name: "Run now" }).waitFor({ state: "detached" })
  })

  it("409 is shown in the dialog that caused it, and is not repeated", async () => {
    const { page, person } = await panel.openAs()
    const { id } = await person.client.delayed.create({
      name: "Remind",
      url: `${panel.url()}/v1/echo`,
      delay_seconds: 3_600
    })
    await page.route("**/events*", (route) => route.abort())
    await page.goto(`${panel.url()}/w/${person.workspaceId}/delayed/${id}`)
    await page.getByRole("button", { name: "Cancel task" }).click()
    const dialog = page.getByRole("dialog")
    const confirm = dialog.getByRole("button", { name: "Cancel task" })
    await confirm.waitFor()
    const { id: executionId } = await person.client.delayed.run(id)
    await person.client.executions.get(executionId, { wait_seconds: 10 })
    const answer = page.waitForResponse((response) => response.status() === 409)
    await confirm.click()
    await answer
    await dialog.getByRole("alert").waitFor()
    expect(await dialog.getByRole("button", { name: "Try again" }).count()).toBe(0)
  })

  it("5xx is repeated by itself, and keeps what was loaded before", async () => {
    const { page, person } = await panel.openAs()
    await person.client.queues.create({ name: "Billing", max_concurrency: 1 })
    const queues = `${panel.url()}/w/${person.workspaceId}/queues`
    let fails = true
    await page.route(/\/v1\/workspaces\/[^/]+\/queues(?:\?|$)/, (route) =>
      fails
        ? route.fulfill({
            status: 500,
            json: { detail: { error: "internal_error", message: "An internal error occurred." } }
          })
        : route.fallback()
    )
    await page.goto(queues)
    const alert = page.getByRole("main").getByRole("alert")
    await alert.getByText("The page retries automatically.").waitFor()
    fails = false
    await page.getByRole("row", { name: /Billing/ }).waitFor()
    await alert.waitFor({ state: "detached" })
    fails = true
    await person.client.queues.create({ name: "Mails", max_concurrency: 1 })
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")))
    await alert.waitFor()
    expect(await page.getByRole("row", { name: /Billing/ }).count()).toBe(1)
  })
})

describe.skipIf(skipReason !== undefined)("a limit", () => {
  const plans = join(mkdtempSync(join(tmpdir(), "panel-plans-")), "plans.json")
  writeFileSync(
    plans,
    JSON.stringify({
      default: "free",
      plans: [{ id: "free", name: "Free", limits: { queues: 0 } }]
    })
  )
  const panel = useOwnPanel({ PLANS_FILE: plans, RATE_LIMIT: "120" })

  it("402 of the plan is named, with a link to the limits", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/queues`)
    await page.getByRole("button", { name: "New queue" }).first().click()
    await page.getByLabel("Name").fill("Billing")
    await page.getByRole("button", { name: "Create queue" }).click()
    const alert = page.getByRole("dialog").getByRole("alert")
    await alert.getByText(/The plan "free" allows at most 0/).waitFor()
    const link = alert.getByRole("link", { name: "Show the limits and the plan" })
    expect(await link.getAttribute("href")).toBe(`/w/${person.workspaceId}/usage`)
    expect(await page.getByLabel("Name").inputValue()).toBe("Billing")
  })

  it("429 of the rate says when the page continues", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}`)
    const asked = Array.from({ length: 150 }, () =>
      person.client
        .withOptions({ maxRetries: 0 })
        .auth.getMe()
        .then(
          () => true,
          () => false
        )
    )
    expect(await Promise.all(asked)).toContain(false)
    await page.getByRole("link", { name: "Queues" }).click()
    await page
      .getByText(/The page continues/)
      .first()
      .waitFor()
  })
})

describe.skipIf(skipReason !== undefined)("the panel's strings", () => {
  const panel = usePanel()

  it("show the year of a date in another year", async () => {
    const { page, person } = await panel.openAs()
    const key = await person.client.apiKeys.create({
      name: "CI",
      scopes: ["tasks:read"],
      expires_in_days: 365
    })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/keys/${key.id}`)
    const fact = (name: string) =>
      page.locator("dt", { hasText: name }).locator("xpath=following-sibling::dd[1]").textContent()
    await page.getByText("Expires", { exact: true }).waitFor()
    const year = String(new Date(key.expires_at ?? "").getFullYear())
    expect(await fact("Expires")).toContain(year)
    expect(await fact("Created")).not.toBe(await fact("Expires"))
  })

  it("are not green if nothing has happened", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}`)
    await page.getByText(/no task is failing. Nothing ran in the last 24 hours/).waitFor()
    const state = page.getByRole("list", { name: "State of the workspace" })
    await state.getByText("No problems right now.").waitFor()
    expect(await state.locator(".bg-ok").count()).toBe(0)
    const section = page.getByRole("group", { name: "Current problems" })
    expect(await section.locator(".bg-ok").count()).toBe(0)
  })

  it("show the result of a finished delayed task", async () => {
    const { page, person } = await panel.openAs()
    const task = await person.client.delayed.create({
      name: "Fails",
      url: `${panel.url()}/nowhere`,
      delay_seconds: 0,
      retry_count: 0
    })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/delayed/${task.id}`)
    const title = page.getByRole("heading", { level: 1 })
    await title.getByText("Failed", { exact: true }).waitFor()
    expect(await title.locator(".bg-ok").count()).toBe(0)
  })

  it("spell the kinds of channels as their vendors do", async () => {
    const { page, person } = await panel.openAs()
    const channel = await person.client.notifications.createChannel({
      kind: "pagerduty",
      name: "On call",
      config: { routing_key: "0123456789abcdef0123456789abcdef" }
    })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/notifications`)
    await page.getByRole("row", { name: /PagerDuty/ }).waitFor()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/notifications/channels/${channel.id}`)
    await page.getByText("PagerDuty").waitFor()
  })

  it("include the time of each execution on a phone", async () => {
    const { page, person } = await panel.openAs(undefined, {
      viewport: { width: 390, height: 844 }
    })
    const task = await person.client.cron.create({
      name: "Warm",
      schedule: "0 3 1 1 *",
      url: `${panel.url()}/v1/echo`
    })
    await person.client.cron.runAndWait(task.id)
    for (const path of ["executions", `cron/${task.id}`]) {
      await page.goto(`${panel.url()}/w/${person.workspaceId}/${path}`)
      const row = page.getByRole("table", { name: "Executions" }).getByRole("row").nth(1)
      await row.locator("time:visible").first().waitFor()
    }
  })

  it("isolate names in another direction, and do not widen the page", async () => {
    const { page, person } = await panel.openAs(undefined, {
      viewport: { width: 390, height: 844 }
    })
    const long = `${"W".repeat(120)}\u202e${"x".repeat(60)}`
    const task = await person.client.cron.create({
      name: long,
      schedule: "0 3 1 1 *",
      url: `${panel.url()}/v1/echo`
    })
    await person.client.cron.runAndWait(task.id)
    await person.client.workspaces.update(person.workspaceId, { name: "V".repeat(100) })
    for (const path of [
      "",
      "/cron",
      `/cron/${task.id}`,
      `/cron/${task.id}/edit`,
      "/settings",
      "/executions"
    ]) {
      await page.goto(`${panel.url()}/w/${person.workspaceId}${path}`)
      await page.getByRole("heading", { level: 1 }).waitFor()
      await page.waitForFunction(
        () => document.querySelector("main .shimmer, main [aria-busy=true]") === null
      )
      const excess = await page.evaluate(() =>
        Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)
      )
      expect({ path, excess }).toEqual({ path, excess: 0 })
    }
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/${task.id}/edit`)
    const title = page.getByRole("heading", { level: 1 })
    expect(await title.textContent()).not.toContain("\u202e")
    await page.goto(`${panel.url()}/w/${person.workspaceId}/executions`)
    const link = page.getByRole("row").nth(1).getByRole("link")
    expect(await link.evaluate((one) => getComputedStyle(one).unicodeBidi)).toBe("isolate")
  })

  it("have no scrollbar at tabs that fit", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/notifications`)
    const tabs = page.getByRole("navigation", { name: "Notifications" })
    await tabs.waitFor()
    const excess = await tabs.evaluate(
      (strip) =>
        getComputedStyle(strip).overflowY === "auto" && strip.scrollHeight > strip.clientHeight
    )
    expect(excess).toBe(false)
  })
})

describe.skipIf(skipReason !== undefined)("a page that is opened by its address", () => {
  const panel = usePanel()

  it("loads its code beside the session, and its data beside the workspaces", async () => {
    const { context, page, person } = await panel.openAs()
    // The panel does not wait for the workspaces if the page is in the last one it has shown.
    await page.goto(`${panel.url()}/w/${person.workspaceId}`)
    await page.getByRole("heading", { name: "Overview" }).waitFor()
    const other = await context.newPage()
    const codeAsked = other.waitForRequest(/CronListPage-.*\.js/)
    const dataAsked = other.waitForRequest(/\/cron\?/)
    await other.route("**/panel/session", async (route) => {
      await codeAsked
      await route.continue()
    })
    await other.route(/\/v1\/workspaces\?/, async (route) => {
      await dataAsked
      await route.continue()
    })
    await other.goto(`${panel.url()}/w/${person.workspaceId}/cron`)
    await other.getByText("No cron tasks yet").waitFor()
    await page.close()
  })

  it("is not shown to a former member", async () => {
    const owner = await createUser(panel.url(), "Owner", "Shared")
    const guest = await createUser(panel.url(), "Guest", "Own")
    const { token } = await owner.client.invitations.create({ email: guest.email, role: "viewer" })
    await guest.client.invitations.accept({ token: token ?? "" })
    const { page } = await panel.openAs(guest)
    await page.goto(`${panel.url()}/w/${owner.workspaceId}/cron`)
    await page.getByText("No cron tasks yet").waitFor()
    await owner.client.members.delete((await guest.client.auth.getMe()).id)
    await page.reload()
    await page.getByText("This page does not exist").waitFor()
    await page.goto(panel.url())
    await page.waitForURL(`**/w/${guest.workspaceId}`)
  })
})

describe.skipIf(skipReason !== undefined)("an invited person", () => {
  const panel = usePanel()

  it("sees the workspace, the inviter and the role before and after the sign-in", async () => {
    const owner = await createUser(panel.url(), "Grace Hopper", "Fleet")
    const guest = await createUser(panel.url(), "Guest", "Own")
    const { token } = await owner.client.invitations.create({ email: guest.email, role: "editor" })
    const { page, problems } = await panel.open()
    await page.goto(`${panel.url()}/invitation#${token}`)
    const said = page.getByText("Grace Hopper invites you to Fleet as an editor.")
    await said.waitFor()
    await page.getByRole("link", { name: "Create an account" }).click()
    // Until this page has loaded, the sign-in page is still shown, and its fields have the same
    // names.
    await page.getByRole("heading", { name: "Create an account" }).waitFor()
    await said.waitFor()
    expect(await page.getByLabel("Email").inputValue()).toBe(guest.email)
    await page.getByRole("link", { name: "Sign in" }).click()
    await page.getByRole("heading", { name: "Sign in" }).waitFor()
    await page.getByLabel("Email").fill(guest.email)
    await page.getByLabel("Password").fill(password)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("heading", { name: "Join a workspace" }).waitFor()
    await said.waitFor()
    await page.getByRole("button", { name: "Join workspace" }).click()
    await page.waitForURL(`**/w/${owner.workspaceId}`)
    expect(problems).toEqual([])
    await page.goto(`${panel.url()}/invitation#${token}x`)
    await page.getByText(/This invitation was used, withdrawn or replaced/).waitFor()
  })
})
