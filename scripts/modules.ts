/**
 * The allowed imports between packages, modules of the server, and folders of the panel. The linter
 * enforces them (`house/borders`) and reports entries that no import uses. An entry lists only
 * entries above it, so there are no cycles. A module of the server is a folder in `src` with an
 * `index.ts`. Other modules, and the files in `src` itself, import only from this `index.ts`, even
 * types.
 */
export const packageImports: Readonly<Record<string, ReadonlyArray<string>>> = {
  schedules: [],
  domain: ["schedules"],
  calls: ["domain"],
  openapi: ["domain"],
  agent: ["domain", "calls"],
  sdk: ["domain"],
  cli: ["schedules", "sdk"],
  panel: ["sdk"],
  server: ["schedules", "domain", "calls", "openapi"]
}

/** The modules of the server, from the lowest layer up. */
export const serverImports: Readonly<Record<string, ReadonlyArray<string>>> = {
  core: [],
  store: ["core"],
  events: ["core", "store"],
  http: ["core", "store", "events"],
  plans: ["core", "events", "http"],
  mail: ["core"],
  engine: ["core", "store", "events", "http", "plans"],
  accounts: ["core", "store", "events", "http", "plans", "mail", "engine"],
  secrets: ["core", "store", "http", "plans", "accounts", "engine"],
  incidents: ["core", "store", "events", "http", "engine", "accounts"],
  tasks: ["core", "store", "events", "http", "plans", "engine", "accounts", "incidents"],
  monitoring: ["core", "store", "events", "http", "plans", "engine", "accounts", "incidents"],
  notifications: [
    "core",
    "store",
    "events",
    "http",
    "plans",
    "mail",
    "engine",
    "accounts",
    "tasks",
    "incidents"
  ],
  workers: ["core", "store", "events", "http", "plans", "engine", "accounts", "monitoring"],
  billing: ["core", "store", "events", "http", "plans", "engine", "accounts", "tasks"],
  definitions: ["core", "store", "http", "plans", "accounts"],
  search: ["http"],
  "status-pages": ["core", "store", "http", "accounts", "incidents", "monitoring"],
  live: ["core", "store", "events", "http", "accounts"],
  operations: [
    "core",
    "store",
    "events",
    "http",
    "engine",
    "accounts",
    "tasks",
    "monitoring",
    "notifications"
  ],
  panel: ["core", "http", "accounts"]
}

export const panelImports: Readonly<Record<string, ReadonlyArray<string>>> = {
  // The design system and common components.
  ui: [],
  // The session and the API data.
  data: ["ui"],
  "sign-in": ["data", "ui"],
  // The layout that all pages share, including the navigation.
  app: ["data", "sign-in", "ui"],
  // The pages, by kind of record.
  versions: ["data", "ui"],
  queues: ["data", "ui", "versions"],
  executions: ["data", "queues", "ui", "versions"],
  recipients: ["data", "ui"],
  workers: ["data", "ui"],
  secrets: ["data", "ui", "versions"],
  incidents: ["data", "executions", "recipients", "ui", "versions"],
  tasks: [
    "data",
    "executions",
    "incidents",
    "queues",
    "recipients",
    "secrets",
    "ui",
    "versions",
    "workers"
  ],
  monitors: ["data", "incidents", "recipients", "tasks", "ui", "versions", "workers"],
  notifications: ["data", "recipients", "tasks", "ui", "versions"],
  maintenance: ["data", "tasks", "ui"],
  "status-pages": ["data", "ui"],
  forecast: ["data", "executions", "ui"],
  timeline: ["data", "ui", "workers"],
  overview: [
    "data",
    "executions",
    "forecast",
    "incidents",
    "monitors",
    "notifications",
    "queues",
    "ui",
    "workers",
    "versions"
  ],
  "api-keys": ["data", "ui"],
  members: ["data", "ui"],
  billing: ["data", "ui"],
  settings: ["data", "ui"],
  account: ["data", "sign-in", "ui"]
}
