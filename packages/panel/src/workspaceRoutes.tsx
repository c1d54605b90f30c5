import { createRoute } from "@tanstack/react-router"
import { newKeySearch } from "./api-keys/scopes.ts"
import { lazyPage } from "./app/lazyPage.ts"
import { usageSearch } from "./billing/search.ts"
import { pageRoute, searchPageRoute, workspaceRoute } from "./parentRoutes.tsx"
import { auditSearch, settingsSearch } from "./settings/search.ts"

export const workspaceRoutes = [
  pageRoute(
    "/keys",
    lazyPage(() => import("./api-keys/KeyListPage.tsx"), "KeyListPage")
  ),
  searchPageRoute(
    "/keys/new",
    newKeySearch,
    lazyPage(() => import("./api-keys/NewKeyPage.tsx"), "NewKeyPage")
  ),
  createRoute({
    getParentRoute: () => workspaceRoute,
    path: "/keys/$keyId",
    // After a rotation, the page opens the new key and shows its secret.
    remountDeps: () => "keys",
    component: lazyPage(() => import("./api-keys/KeyPage.tsx"), "KeyPage")
  }),
  pageRoute(
    "/members",
    lazyPage(() => import("./members/MembersPage.tsx"), "MembersPage")
  ),
  pageRoute(
    "/secrets",
    lazyPage(() => import("./secrets/SecretsPage.tsx"), "SecretsPage")
  ),
  pageRoute(
    "/maintenance",
    lazyPage(() => import("./maintenance/MaintenancePage.tsx"), "MaintenancePage")
  ),
  pageRoute(
    "/status-pages",
    lazyPage(() => import("./status-pages/StatusPagesPage.tsx"), "StatusPagesPage")
  ),
  pageRoute(
    "/workers",
    lazyPage(() => import("./workers/WorkersPage.tsx"), "WorkersPage")
  ),
  pageRoute(
    "/workers/$workerId",
    lazyPage(() => import("./workers/WorkerPage.tsx"), "WorkerPage")
  ),
  pageRoute(
    "/queues",
    lazyPage(() => import("./queues/QueuesPage.tsx"), "QueuesPage")
  ),
  searchPageRoute(
    "/usage",
    usageSearch,
    lazyPage(() => import("./billing/UsagePage.tsx"), "UsagePage")
  ),
  searchPageRoute(
    "/audit",
    auditSearch,
    lazyPage(() => import("./settings/AuditPage.tsx"), "AuditPage")
  ),
  searchPageRoute(
    "/settings",
    settingsSearch,
    lazyPage(() => import("./settings/SettingsPage.tsx"), "SettingsPage")
  )
] as const
