import { newKeySearch } from "./api-keys/scopes.ts"
import { lazyPage } from "./app/lazyPage.ts"
import { usageSearch } from "./billing/search.ts"
import { page, searchPage } from "./parentRoutes.tsx"
import { auditSearch, settingsSearch } from "./settings/search.ts"

export const workspaceRoutes = [
  page(
    "/keys",
    lazyPage(() => import("./api-keys/KeyListPage.tsx"), "KeyListPage")
  ),
  searchPage(
    "/keys/new",
    newKeySearch,
    lazyPage(() => import("./api-keys/NewKeyPage.tsx"), "NewKeyPage")
  ),
  page(
    "/keys/$keyId",
    lazyPage(() => import("./api-keys/KeyPage.tsx"), "KeyPage")
  ),
  page(
    "/members",
    lazyPage(() => import("./members/MembersPage.tsx"), "MembersPage")
  ),
  page(
    "/secrets",
    lazyPage(() => import("./secrets/SecretsPage.tsx"), "SecretsPage")
  ),
  page(
    "/maintenance",
    lazyPage(() => import("./maintenance/MaintenancePage.tsx"), "MaintenancePage")
  ),
  page(
    "/status-pages",
    lazyPage(() => import("./status-pages/StatusPagesPage.tsx"), "StatusPagesPage")
  ),
  page(
    "/workers",
    lazyPage(() => import("./workers/WorkersPage.tsx"), "WorkersPage")
  ),
  page(
    "/workers/$workerId",
    lazyPage(() => import("./workers/WorkerPage.tsx"), "WorkerPage")
  ),
  page(
    "/queues",
    lazyPage(() => import("./queues/QueuesPage.tsx"), "QueuesPage")
  ),
  searchPage(
    "/usage",
    usageSearch,
    lazyPage(() => import("./billing/UsagePage.tsx"), "UsagePage")
  ),
  searchPage(
    "/audit",
    auditSearch,
    lazyPage(() => import("./settings/AuditPage.tsx"), "AuditPage")
  ),
  searchPage(
    "/settings",
    settingsSearch,
    lazyPage(() => import("./settings/SettingsPage.tsx"), "SettingsPage")
  )
] as const
