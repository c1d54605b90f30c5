/** `workspace_id` → `WorkspaceId` */
export const pascal = (text: string): string =>
  text
    .split(/[-_]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("")
