/**
 * Says which room may import which. The linter enforces it (`house/borders`), and reports a name
 * that is not needed. A room names only rooms above it here, so no two import each other in
 * circles. `App.ts`, `Server.ts` and the other files in `src` itself wire the rooms and may import
 * them all, as `routes.tsx` does in the panel.
 */
export const packageImports: Readonly<Record<string, ReadonlyArray<string>>> = {
  schedules: [],
  domain: ["schedules"],
  calls: ["domain"],
  openapi: ["domain"],
  agent: ["domain", "calls"],
  sdk: ["domain"],
  panel: ["sdk"],
  server: ["schedules", "domain", "calls", "openapi"]
}

export const serverImports: Readonly<Record<string, ReadonlyArray<string>>> = {
  // The rooms that all others stand on.
  config: [],
  platform: ["config"],
  sql: ["config", "platform"],
  fairness: [],
  // The engine, from the tables up.
  signals: ["platform", "sql"],
  outbox: ["platform", "signals"],
  limits: ["config", "fairness", "outbox", "platform"],
  queue: ["config", "limits", "outbox", "platform", "signals", "sql"],
  // The edge.
  http: ["config", "fairness", "platform", "signals", "sql"],
  // Mails: the mail server, and how a mail looks.
  mail: ["config", "platform"],
  // Who may use what.
  access: ["http"],
  throttle: ["fairness", "platform"],
  // The nouns.
  users: ["sql"],
  audit: ["config", "http", "platform", "queue", "sql"],
  signing: ["platform", "sql"],
  tasks: ["limits", "outbox", "platform", "queue", "signals", "sql"],
  notifications: [
    "access",
    "audit",
    "config",
    "http",
    "limits",
    "mail",
    "outbox",
    "platform",
    "signals",
    "signing",
    "sql",
    "throttle",
    "users"
  ],
  workspaces: ["access", "audit", "http", "limits", "platform", "queue", "signing", "sql", "users"],
  members: [
    "access",
    "audit",
    "config",
    "http",
    "limits",
    "mail",
    "platform",
    "signals",
    "sql",
    "throttle",
    "users",
    "workspaces"
  ],
  "api-keys": ["audit", "http", "limits", "outbox", "platform", "sql", "throttle", "workspaces"],
  auth: [
    "access",
    "api-keys",
    "audit",
    "config",
    "fairness",
    "http",
    "limits",
    "mail",
    "members",
    "platform",
    "signals",
    "signing",
    "sql",
    "throttle",
    "users",
    "workspaces"
  ],
  panel: ["auth", "config", "http"],
  operator: [
    "access",
    "audit",
    "auth",
    "config",
    "http",
    "platform",
    "queue",
    "signals",
    "sql",
    "users"
  ],
  executions: ["auth", "config", "http", "limits", "platform", "queue", "sql"],
  calendars: ["fairness", "limits", "outbox", "platform", "queue", "sql", "tasks"],
  batches: ["auth", "http", "platform", "sql"],
  cron: [
    "batches",
    "calendars",
    "executions",
    "fairness",
    "http",
    "limits",
    "outbox",
    "platform",
    "queue",
    "sql",
    "tasks"
  ],
  delayed: ["batches", "executions", "http", "limits", "platform", "queue", "sql", "tasks"],
  chains: [
    "auth",
    "batches",
    "calendars",
    "executions",
    "http",
    "limits",
    "outbox",
    "platform",
    "queue",
    "sql",
    "tasks"
  ],
  queues: ["http", "limits", "platform", "queue", "sql"],
  forecast: ["http", "platform", "queue", "sql"],
  activity: ["executions", "http", "sql", "tasks"],
  incidents: ["config", "http", "platform", "signals", "sql"],
  monitors: [
    "config",
    "fairness",
    "http",
    "incidents",
    "limits",
    "outbox",
    "platform",
    "queue",
    "signals",
    "sql"
  ],
  billing: [
    "access",
    "audit",
    "config",
    "executions",
    "http",
    "limits",
    "outbox",
    "platform",
    "queue",
    "sql",
    "tasks"
  ],
  events: ["auth", "http", "platform", "signals", "sql"],
  // The work beside the requests.
  completions: ["config", "fairness", "http", "platform", "queue", "signals", "sql"],
  runner: ["completions", "platform", "queue", "signals", "signing", "sql"],
  workers: [
    "access",
    "audit",
    "completions",
    "config",
    "fairness",
    "http",
    "limits",
    "monitors",
    "outbox",
    "platform",
    "queue",
    "runner",
    "signals",
    "signing",
    "sql",
    "throttle",
    "workspaces"
  ],
  system: [
    "audit",
    "config",
    "executions",
    "http",
    "monitors",
    "notifications",
    "platform",
    "queue",
    "sql"
  ]
}

export const panelImports: Readonly<Record<string, ReadonlyArray<string>>> = {
  // How everything looks.
  ui: [],
  // Who is signed in, and what the API says.
  data: ["ui"],
  "sign-in": ["data", "ui"],
  // The frame: where one is, and where one can go.
  app: ["data", "sign-in", "ui"],
  // The pages, by noun.
  executions: ["data", "ui"],
  queues: ["data", "ui"],
  workers: ["data", "ui"],
  tasks: ["data", "executions", "queues", "ui", "workers"],
  incidents: ["data", "ui"],
  monitors: ["data", "incidents", "tasks", "ui", "workers"],
  notifications: ["data", "tasks", "ui"],
  forecast: ["data", "executions", "ui"],
  overview: ["data", "executions", "forecast", "incidents", "monitors", "ui"],
  "api-keys": ["data", "ui"],
  members: ["data", "ui"],
  billing: ["data", "ui"],
  settings: ["data", "ui"],
  account: ["data", "ui"]
}
