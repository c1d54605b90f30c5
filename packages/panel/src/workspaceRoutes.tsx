import { createRoute } from "@tanstack/react-router"
import { lazyPage } from "./app/lazyPage.ts"
import { newKeySearch } from "./api-keys/search.ts"
import { usageSearch } from "./billing/search.ts"
import { workspace } from "./parentRoutes.tsx"
import { auditSearch, settingsSearch } from "./settings/search.ts"

/** Who and what may do something in a workspace. */
export const workspaceRoutes = [
  createRoute({
    getParentRoute: () => workspace,
    path: "/keys",
    component: lazyPage(() => import("./api-keys/KeyListPage.tsx"), "KeyListPage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/keys/new",
    validateSearch: newKeySearch,
    component: lazyPage(() => import("./api-keys/NewKeyPage.tsx"), "NewKeyPage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/keys/$keyId",
    component: lazyPage(() => import("./api-keys/KeyPage.tsx"), "KeyPage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/members",
    component: lazyPage(() => import("./members/MembersPage.tsx"), "MembersPage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/workers",
    component: lazyPage(() => import("./workers/WorkersPage.tsx"), "WorkersPage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/workers/$workerId",
    component: lazyPage(() => import("./workers/WorkerPage.tsx"), "WorkerPage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/queues",
    component: lazyPage(() => import("./queues/QueuesPage.tsx"), "QueuesPage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/usage",
    validateSearch: usageSearch,
    component: lazyPage(() => import("./billing/UsagePage.tsx"), "UsagePage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/audit",
    validateSearch: auditSearch,
    component: lazyPage(() => import("./settings/AuditPage.tsx"), "AuditPage")
  }),
  createRoute({
    getParentRoute: () => workspace,
    path: "/settings",
    validateSearch: settingsSearch,
    component: lazyPage(() => import("./settings/SettingsPage.tsx"), "SettingsPage")
  })
] as const
