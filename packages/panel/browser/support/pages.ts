import type { Page, Route } from "playwright-core"
import { password, type PanelUser } from "./users.ts"

export interface PanelPage {
  readonly name: string
  readonly path: string
  /** True if the page does not require a session. */
  readonly isPublic: boolean
  /** Runs before the page is opened. `after` undoes its changes. */
  readonly before?: (page: Page) => Promise<unknown>
  /** Runs on the page before the page is checked. */
  readonly prepare?: (page: Page) => Promise<unknown>
  readonly after?: (page: Page) => Promise<unknown>
  /** True if the page is supposed to show loading placeholders. */
  readonly isWaiting?: boolean
}

const sessionPath = "**/panel/session"

/** Responds to a sign-in as the service does for an account that has a second factor. */
const asksForCode = (route: Route) =>
  route.request().method() === "POST"
    ? route.fulfill({
        status: 401,
        json: { detail: { error: "totp_required", message: "This account has a second factor." } }
      })
    : route.fallback()

/** Responds like a server on which every sign-in method is enabled. */
const hasAllWays = (page: Page) =>
  page.route("**/v1/auth/options", (route) =>
    route.fulfill({
      json: { password: true, passkey: true, provider: { name: "Keycloak" }, proxy: true }
    })
  )
const hasOwnWays = (page: Page) => page.unroute("**/v1/auth/options")

const passkeysPath = "**/panel/session/passkeys/list"

const passkeys = ["Laptop", "Phone"].map((name, index) => ({
  id: `019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d4${index}`,
  name,
  last_used_at: index === 0 ? null : "2026-06-01T11:30:00.000Z",
  created_at: "2026-05-30T09:30:00.000Z"
}))

const cronList = /\/cron\?limit=100/

/** Opens a section that narrow screens fold. */
const unfold = async (page: Page, title: string) => {
  const summary = page.locator("summary", { hasText: title })
  if (await summary.isVisible()) await summary.click()
}

const open = (name: string, path: string): PanelPage => ({ name, path, isPublic: true })

/** Lists all of the panel's pages, with the records in a person's workspace. */
export const pagesOf = async ({
  client,
  workspaceId
}: PanelUser): Promise<ReadonlyArray<PanelPage>> => {
  const { data: heartbeats } = await client.heartbeatMonitors.list({ limit: 100 })
  const { data: certificates } = await client.sslMonitors.list({ limit: 1 })
  const { data: sites } = await client.httpMonitors.list({ name: "Shop", limit: 1 })
  const { data: placed } = await client.httpMonitors.list({ name: "Intranet", limit: 1 })
  const { data: servers } = await client.tcpMonitors.list({ limit: 1 })
  const { data: records } = await client.dnsMonitors.list({ limit: 1 })
  const { data: processes } = await client.processMonitors.list({ limit: 1 })
  const { data: workers } = await client.workers.list({ limit: 100 })
  const { data: incidents } = await client.incidents.list({ limit: 1 })
  const { data: channels } = await client.notifications.listChannels({ limit: 100 })
  const { data: deliveries } = await client.notifications.listDeliveries({ limit: 1 })
  const [{ data: tasks }, { data: delayed }, { data: chains }, { data: failed }, { data: keys }] =
    await Promise.all([
      client.cron.list({ limit: 1 }),
      client.delayed.list({ limit: 1 }),
      client.chains.list({ limit: 1 }),
      client.executions.list({ limit: 1, status: "failed" }),
      client.apiKeys.list({ limit: 1 })
    ])
  const { data: running } = await client.executions.list({ limit: 1, status: "running" })
  const [authenticated] = (await client.cron.list({ name: "Pull", limit: 1 })).data
  const w = `/w/${workspaceId}`
  const workspaces = await client.workspaces.list({ limit: 100 }).toArray({ limit: 100 })
  const fresh =
    workspaces.find(({ name }) => name === "Fresh") ??
    (await client.workspaces.create({ name: "Fresh" }))
  const empty = (name: string, path: string): PanelPage => ({
    name: `${name}-empty`,
    path: `/w/${fresh.id}${path}`,
    isPublic: false
  })
  const inside = (name: string, path: string, prepare?: PanelPage["prepare"]): PanelPage => ({
    name,
    path: w + path,
    isPublic: false,
    ...(prepare && { prepare })
  })
  const cron = `/cron/${tasks[0]?.id}`
  return [
    open("sign-in", "/sign-in"),
    {
      ...open("sign-in-refused", "/sign-in"),
      prepare: async (page) => {
        await page.getByLabel("Email").fill("ada@example.com")
        await page.getByLabel("Password").fill("not her password at all")
        await page.getByRole("button", { name: "Sign in" }).click()
        await page.getByRole("alert").waitFor()
      }
    },
    open("register", "/register"),
    open("forgot-password", "/forgot-password"),
    {
      ...open("sign-in-code", "/sign-in"),
      before: async (page) => {
        await hasAllWays(page)
        await page.route(sessionPath, asksForCode)
      },
      prepare: async (page) => {
        await page.getByLabel("Email").fill("ada@example.com")
        await page.getByLabel("Password").fill("correct horse battery staple")
        await page.getByRole("button", { name: "Sign in" }).click()
        await page.getByLabel("Code").waitFor()
      },
      after: async (page) => {
        await hasOwnWays(page)
        await page.unroute(sessionPath)
      }
    },
    {
      ...open("sign-in-ways", "/sign-in"),
      before: hasAllWays,
      prepare: (page) => page.getByRole("button", { name: "Continue with Keycloak" }).waitFor(),
      after: hasOwnWays
    },
    {
      name: "account-passkeys",
      path: "/account/settings",
      isPublic: false,
      before: async (page) => {
        await hasAllWays(page)
        await page.route(passkeysPath, (route) =>
          route.fulfill({ json: { data: passkeys, has_password: true } })
        )
      },
      prepare: (page) => page.getByRole("list", { name: "Passkeys" }).waitFor(),
      after: async (page) => {
        await hasOwnWays(page)
        await page.unroute(passkeysPath)
      }
    },
    open("reset-password", "/reset-password"),
    open("reset-password-link", "/reset-password#token"),
    open("sign-in-link", "/sign-in-link"),
    open("email-link-gone", "/email/verify/token"),
    { name: "invitation", path: "/invitation", isPublic: false },
    { name: "invitation-link", path: "/invitation#token", isPublic: false },
    { name: "welcome", path: "/welcome", isPublic: false },
    inside("overview", ""),
    empty("overview", ""),
    empty("timeline", "/timeline"),
    empty("forecast", "/forecast"),
    empty("executions", "/executions"),
    empty("cron", "/cron"),
    empty("delayed", "/delayed"),
    empty("chain", "/chains"),
    empty("queue", "/queues"),
    empty("monitor", "/monitors"),
    empty("incident", "/incidents"),
    empty("channel", "/notifications"),
    empty("escalation", "/notifications/escalations"),
    empty("key", "/keys"),
    empty("secret", "/secrets"),
    empty("maintenance", "/maintenance"),
    empty("status-page", "/status-pages"),
    empty("worker", "/workers"),
    inside("not-found", "/nowhere"),
    {
      ...inside("cron-waits", "/cron"),
      isWaiting: true,
      before: (page) => page.route(cronList, () => {}),
      prepare: (page) => page.locator("[aria-busy=true]").waitFor(),
      after: (page) => page.unroute(cronList)
    },
    {
      ...inside("cron-failed", "/cron"),
      before: (page) => page.route(cronList, (route) => route.abort()),
      prepare: (page) => page.getByRole("alert").waitFor({ timeout: 60_000 }),
      isWaiting: true,
      after: (page) => page.unroute(cronList)
    },
    inside("timeline", "/timeline"),
    inside("forecast", "/forecast"),
    inside("forecast-week", "/forecast?span=week"),
    inside("executions", "/executions"),
    inside("executions-scheduled", "/executions/scheduled"),
    inside("execution", `/executions/${failed[0]?.id}`),
    inside("execution-awaiting", `/executions/${running[0]?.id}`),
    inside("delayed-list", "/delayed"),
    inside("delayed-new", "/delayed/new"),
    inside("delayed-detail", `/delayed/${delayed[0]?.id}`),
    inside("chain-list", "/chains"),
    inside("chain-new", "/chains/new"),
    // The failed step is unfolded, and its request is fetched after the page.
    inside("chain-detail", `/chains/${chains[0]?.id}`, (page) =>
      page.getByText("The request as it was sent").first().waitFor()
    ),
    inside("chain-step", `/chains/${chains[0]?.id}`, (page) =>
      page.getByText("export", { exact: true }).click()
    ),
    inside("chain-edit", `/chains/${chains[0]?.id}/edit`),
    inside("cron-list", "/cron"),
    inside("cron-filtered", "/cron?name=nothing"),
    inside("cron-new", "/cron/new", async (page) => {
      await page.getByLabel("Schedule").fill("30 2 * * *")
      await unfold(page, "Preview")
      await page.locator("ol li").first().waitFor()
    }),
    inside("cron-on-workers", "/cron/new", async (page) => {
      await page.getByLabel("Runs on").selectOption("workers")
      await page.getByLabel("Worker labels").fill("office")
      await page.getByText(/^Workers with these labels: |^No worker has all/).waitFor()
    }),
    inside("cron-values", "/cron/new", async (page) => {
      await page.getByLabel("Authentication").selectOption("oauth2_client_credentials")
      await page.getByRole("button", { name: "Insert value into URL" }).click()
      await page.getByRole("menuitem", { name: "secrets.BILLING_TOKEN" }).waitFor()
    }),
    inside("cron-authenticated", `/cron/${authenticated?.id}`),
    inside("cron-detail", cron),
    inside("cron-edit", `${cron}/edit`),
    inside("queues", "/queues"),
    inside("queue-new", "/queues", async (page) => {
      await page.getByRole("button", { name: "New queue" }).first().click()
      await page.getByRole("dialog").waitFor()
    }),
    inside("monitor-list", "/monitors"),
    inside("heartbeat-new", "/monitors/heartbeat/new"),
    inside("heartbeat-detail", `/monitors/heartbeat/${heartbeats[0]?.id}`),
    inside("heartbeat-waits", `/monitors/heartbeat/${heartbeats.at(-1)?.id}`),
    inside("heartbeat-edit", `/monitors/heartbeat/${heartbeats[0]?.id}/edit`),
    inside("ssl-new", "/monitors/ssl/new"),
    inside("ssl-detail", `/monitors/ssl/${certificates[0]?.id}`),
    inside("http-new", "/monitors/http/new"),
    inside("http-detail", `/monitors/http/${sites[0]?.id}`),
    inside("http-edit", `/monitors/http/${sites[0]?.id}/edit`),
    inside("places-detail", `/monitors/http/${placed[0]?.id}`),
    inside("places-edit", `/monitors/http/${placed[0]?.id}/edit`),
    inside("tcp-new", "/monitors/tcp/new"),
    inside("tcp-detail", `/monitors/tcp/${servers[0]?.id}`),
    inside("dns-new", "/monitors/dns/new"),
    inside("dns-detail", `/monitors/dns/${records[0]?.id}`),
    inside("process-new", "/monitors/process/new"),
    inside("ssl-edit", `/monitors/ssl/${certificates[0]?.id}/edit`),
    inside("process-edit", `/monitors/process/${processes[0]?.id}/edit`),
    inside("process-detail", `/monitors/process/${processes[0]?.id}`),
    inside("incident-list", "/incidents"),
    inside("incident-detail", `/incidents/${incidents[0]?.id}`),
    inside("channel-list", "/notifications"),
    inside("channel-kinds", "/notifications/channels/new"),
    inside("channel-new", "/notifications/channels/new?kind=telegram"),
    inside("channel-detail", `/notifications/channels/${channels.at(-1)?.id}`, async (page) => {
      await page.getByRole("button", { name: "Send test message" }).click()
      await page.getByRole("status").filter({ hasText: "after" }).waitFor()
    }),
    inside("notification-rules", "/notifications/rules"),
    inside("escalations", "/notifications/escalations"),
    inside("escalation-new", "/notifications/escalations", async (page) => {
      await page.getByRole("button", { name: "New escalation policy" }).first().click()
    }),
    inside("delivery-list", "/notifications/deliveries"),
    inside("delivery-filtered", "/notifications/deliveries?kind=callback"),
    inside("delivery-detail", `/notifications/deliveries/${deliveries[0]?.id}`),
    inside("key-list", "/keys"),
    inside("key-new", "/keys/new?scopes=tasks:read,tasks:write"),
    inside("key-detail", `/keys/${keys[0]?.id}`),
    inside("secrets", "/secrets"),
    inside("secret-new", "/secrets", async (page) => {
      await page.getByRole("button", { name: "New secret" }).click()
      await page.getByRole("dialog").waitFor()
    }),
    inside("secret-edit", "/secrets", async (page) => {
      await page.getByRole("button", { name: "Actions for BILLING_TOKEN" }).click()
      await page.getByRole("menuitem", { name: "Edit" }).click()
      await page.getByLabel("Allowed hosts").fill("billing.example.com, api.example.com")
    }),
    inside("maintenance", "/maintenance"),
    inside("maintenance-new", "/maintenance", async (page) => {
      await page.getByRole("button", { name: "New maintenance window" }).first().click()
      await page.getByRole("dialog").waitFor()
    }),
    inside("status-pages", "/status-pages"),
    inside("status-page-new", "/status-pages", async (page) => {
      await page.getByRole("button", { name: "New status page" }).first().click()
      await page.getByRole("dialog").waitFor()
    }),
    inside("workers", "/workers"),
    inside("worker-detail", `/workers/${workers.at(-1)?.id}`),
    inside("worker-new", "/workers", async (page) => {
      await page.getByRole("button", { name: "New worker" }).click()
      await page.getByRole("dialog").waitFor()
    }),
    inside("members", "/members"),
    inside("member-invite", "/members", async (page) => {
      await page.getByRole("button", { name: "Invite a member" }).click()
      await page.getByRole("dialog").waitFor()
    }),
    inside("service-account-new", "/members", async (page) => {
      await page.getByRole("button", { name: "New service account" }).click()
      await page.getByRole("dialog").waitFor()
    }),
    inside("usage", "/usage"),
    inside("checkout-done", "/usage?checkout=done"),
    inside("checkout-cancelled", "/usage?checkout=cancelled"),
    inside("audit", "/audit"),
    inside("audit-filtered", "/audit?subject_kind=api_key", async (page) => {
      await page.getByRole("button", { name: "Details" }).first().click()
      await page.getByRole("dialog").waitFor()
    }),
    inside("settings", "/settings"),
    { name: "account", path: "/account/settings", isPublic: false },
    {
      name: "account-second-factor",
      path: "/account/settings",
      isPublic: false,
      prepare: async (page) => {
        await page.getByRole("button", { name: "Set up second factor" }).click()
        await page.getByLabel("Your password").fill(password)
        await page.getByRole("button", { name: "Continue" }).click()
        await page.getByRole("img", { name: "QR code for the authenticator app" }).waitFor()
      }
    },
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

/** Opens a page and waits until it has loaded. */
export const openPanelPage = async (
  page: Page,
  baseUrl: string,
  { before, isWaiting = false, name, path, prepare }: PanelPage
) => {
  await before?.(page)
  await page.goto(baseUrl + path)
  await page.getByRole("heading", { level: 1 }).waitFor()
  if (!isWaiting) {
    await page.waitForFunction(() => document.querySelector(".shimmer, [aria-busy=true]") === null)
  }
  await page.evaluate(() => document.fonts.ready)
  await prepare?.(page)
  if (page.url().endsWith("/sign-in") && !name.startsWith("sign-in"))
    throw new Error(`${name} needs a session`)
}
