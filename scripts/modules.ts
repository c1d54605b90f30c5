/**
 * Says which package, which module of the server and which folder of the panel may import which. The
 * linter enforces it (`house/borders`), and reports an entry that nothing needs. An entry names only
 * entries above it, so no two import each other in circles.
 *
 * A module of the server is a folder in `src` with an `index.ts`, its only door: other modules, and
 * the files in `src` itself, import nothing behind it, not even a type.
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

/** From the ground up. */
export const serverImports: Readonly<Record<string, ReadonlyArray<string>>> = {
  core: [],
  store: ["core"],
  events: ["core", "store"],
  http: ["core", "store", "events"],
  plans: ["core", "events", "http"],
  mail: ["core"],
  engine: ["core", "store", "events", "http", "plans"],
  accounts: ["core", "store", "events", "http", "plans", "mail", "engine"],
  tasks: ["core", "store", "events", "http", "plans", "engine", "accounts"],
  monitoring: ["core", "store", "events", "http", "plans", "engine"],
  notifications: ["core", "store", "events", "http", "plans", "mail", "engine", "accounts"],
  workers: ["core", "store", "events", "http", "plans", "engine", "accounts", "monitoring"],
  billing: ["core", "store", "events", "http", "plans", "engine", "accounts", "tasks"],
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
