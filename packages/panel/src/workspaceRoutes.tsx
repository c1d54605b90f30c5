import { createRoute } from "@tanstack/react-router"
import { lazyPage } from "./app/lazyPage.ts"
import { newKeySearch } from "./api-keys/search.ts"
import { usageSearch } from "./billing/search.ts"
import type { workspace } from "./routes.tsx"
import { auditSearch, settingsSearch } from "./settings/search.ts"

/** Who and what may do something in a workspace. */
export const workspaceRoutes = (parent: typeof workspace) =>
  [
    createRoute({
      getParentRoute: () => parent,
      path: "/keys",
      component: lazyPage(() => import("./api-keys/KeyListPage.tsx"), "KeyListPage")
    }),
    createRoute({
      getParentRoute: () => parent,
      path: "/keys/new",
      validateSearch: newKeySearch,
      component: lazyPage(() => import("./api-keys/NewKeyPage.tsx"), "NewKeyPage")
    }),
    createRoute({
      getParentRoute: () => parent,
      path: "/keys/$keyId",
      component: lazyPage(() => import("./api-keys/KeyPage.tsx"), "KeyPage")
    }),
    createRoute({
      getParentRoute: () => parent,
      path: "/members",
      component: lazyPage(() => import("./members/MembersPage.tsx"), "MembersPage")
    }),
    createRoute({
      getParentRoute: () => parent,
      path: "/workers",
      component: lazyPage(() => import("./workers/WorkersPage.tsx"), "WorkersPage")
    }),
    createRoute({
      getParentRoute: () => parent,
      path: "/workers/$workerId",
      component: lazyPage(() => import("./workers/WorkerPage.tsx"), "WorkerPage")
    }),
    createRoute({
      getParentRoute: () => parent,
      path: "/queues",
      component: lazyPage(() => import("./queues/QueuesPage.tsx"), "QueuesPage")
    }),
    createRoute({
      getParentRoute: () => parent,
      path: "/usage",
      validateSearch: usageSearch,
      component: lazyPage(() => import("./billing/UsagePage.tsx"), "UsagePage")
    }),
    createRoute({
      getParentRoute: () => parent,
      path: "/audit",
      validateSearch: auditSearch,
      component: lazyPage(() => import("./settings/AuditPage.tsx"), "AuditPage")
    }),
    createRoute({
      getParentRoute: () => parent,
      path: "/settings",
      validateSearch: settingsSearch,
      component: lazyPage(() => import("./settings/SettingsPage.tsx"), "SettingsPage")
    })
  ] as const
