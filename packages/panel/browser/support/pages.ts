import type { Page } from "playwright-core"
import type { Person } from "./people.ts"

export interface PanelPage {
  readonly name: string
  readonly path: string
  /** Seen without signing in. */
  readonly isPublic: boolean
  /** What to do there first. */
  readonly prepare?: (page: Page) => Promise<unknown>
}

const open = (name: string, path: string): PanelPage => ({ name, path, isPublic: true })

/** Every page of the panel, with the things of this person's workspace. */
export const pagesOf = async ({
  client,
  workspaceId
}: Person): Promise<ReadonlyArray<PanelPage>> => {
  const { data: heartbeats } = await client.heartbeatMonitors.list({ limit: 100 })
  const { data: certificates } = await client.sslMonitors.list({ limit: 1 })
  const { data: processes } = await client.processMonitors.list({ limit: 1 })
  const { data: workers } = await client.workers.list({ limit: 100 })
  const { data: incidents } = await client.incidents.list({ limit: 1 })
  const { data: channels } = await client.notifications.channels({ limit: 100 })
  const { data: deliveries } = await client.notifications.deliveries({ limit: 1 })
  const [{ data: tasks }, { data: delayed }, { data: chains }, { data: failed }, { data: keys }] =
    await Promise.all([
      client.cron.list({ limit: 1 }),
      client.delayed.list({ limit: 1 }),
      client.chains.list({ limit: 1 }),
      client.executions.list({ limit: 1, status: "failed" }),
      client.apiKeys.list({ limit: 1 })
    ])
  const w = `/w/${workspaceId}`
  const inside = (name: string, path: string, prepare?: PanelPage["prepare"]): PanelPage => ({
    name,
    path: w + path,
    isPublic: false,
    ...(prepare && { prepare })
  })
  const cron = `/cron/${tasks[0]?.id}`
  return [
    open("sign-in", "/sign-in"),
    open("register", "/register"),
    open("forgot-password", "/forgot-password"),
    open("reset-password", "/reset-password"),
    { name: "invitation", path: "/invitation", isPublic: false },
    { name: "welcome", path: "/welcome", isPublic: false },
    inside("overview", ""),
    inside("executions", "/executions"),
    inside("execution", `/executions/${failed[0]?.id}`),
    inside("delayed-list", "/delayed"),
    inside("delayed-new", "/delayed/new"),
    inside("delayed-detail", `/delayed/${delayed[0]?.id}`),
    inside("chain-list", "/chains"),
    inside("chain-new", "/chains/new"),
    inside("chain-detail", `/chains/${chains[0]?.id}`),
    inside("chain-edit", `/chains/${chains[0]?.id}/edit`),
    inside("cron-list", "/cron"),
    inside("cron-filtered", "/cron?name=nothing"),
    inside("cron-new", "/cron/new", async (page) => {
      await page.getByLabel("Schedule").fill("30 2 * * *")
      await page.locator("ol li").first().waitFor()
    }),
    inside("cron-detail", cron),
    inside("cron-edit", `${cron}/edit`),
    inside("monitor-list", "/monitors"),
    inside("heartbeat-new", "/monitors/heartbeat/new"),
    inside("heartbeat-detail", `/monitors/heartbeat/${heartbeats[0]?.id}`),
    inside("heartbeat-waits", `/monitors/heartbeat/${heartbeats.at(-1)?.id}`),
    inside("heartbeat-edit", `/monitors/heartbeat/${heartbeats[0]?.id}/edit`),
    inside("ssl-new", "/monitors/ssl/new"),
    inside("ssl-detail", `/monitors/ssl/${certificates[0]?.id}`),
    inside("process-new", "/monitors/process/new"),
    inside("process-detail", `/monitors/process/${processes[0]?.id}`),
    inside("incident-list", "/incidents"),
    inside("incident-detail", `/incidents/${incidents[0]?.id}`),
    inside("channel-list", "/notifications"),
    inside("channel-kinds", "/notifications/channels/new"),
    inside("channel-new", "/notifications/channels/new?kind=telegram"),
    inside("channel-detail", `/notifications/channels/${channels.at(-1)?.id}`, async (page) => {
      await page.getByRole("button", { name: "Send a test" }).click()
      await page.getByRole("status").filter({ hasText: "after" }).waitFor()
    }),
    inside("notification-rules", "/notifications/rules"),
    inside("delivery-list", "/notifications/deliveries"),
    inside("delivery-detail", `/notifications/deliveries/${deliveries[0]?.id}`),
    inside("key-list", "/keys"),
    inside("key-new", "/keys/new?scopes=tasks:read,tasks:write"),
    inside("key-detail", `/keys/${keys[0]?.id}`),
    inside("workers", "/workers"),
    inside("worker-detail", `/workers/${workers.at(-1)?.id}`),
    inside("members", "/members"),
    inside("usage", "/usage"),
    inside("checkout-done", "/usage?checkout=done"),
    inside("checkout-cancelled", "/usage?checkout=cancelled"),
    inside("audit", "/audit"),
    inside("settings", "/settings"),
    { name: "account", path: "/account/settings", isPublic: false },
    inside("palette", "/cron", async (page) => {
      await page.keyboard.press("Control+k")
      await page.getByRole("combobox", { name: "Search" }).fill("s")
      await page
        .getByRole("option", { name: /Cron task$/ })
        .first()
        .waitFor()
    })
  ]
}

/** Goes there, and waits until nothing waits. */
export const show = async (page: Page, baseUrl: string, { name, path, prepare }: PanelPage) => {
  await page.goto(baseUrl + path)
  await page.getByRole("heading", { level: 1 }).waitFor()
  await page.waitForFunction(() => document.querySelector(".shimmer, [aria-busy=true]") === null)
  await page.evaluate(() => document.fonts.ready)
  await prepare?.(page)
  if (page.url().endsWith("/sign-in") && name !== "sign-in")
    throw new Error(`${name} needs a session`)
}
