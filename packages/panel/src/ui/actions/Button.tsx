import { createLink } from "@tanstack/react-router"
import { type ComponentProps, type MouseEvent, type ReactNode, useState } from "react"
import { classes } from "../classes.ts"
import { Spinner } from "../messages/Spinner.tsx"

interface Look {
  /** What the button is: the one thing to do on the page, or one of several. */
  readonly look?: "main" | "plain" | "quiet" | "danger"
  readonly size?: "small" | "normal"
  readonly icon?: ReactNode
}

const looks = {
  main: "bg-ink text-canvas border-ink hover:opacity-85 shadow-card",
  plain: "bg-surface border-line hover:border-edge hover:bg-sunken shadow-card",
  quiet: "border-transparent text-soft hover:text-ink hover:bg-sunken",
  danger: "bg-surface border-line text-bad hover:border-bad hover:tint-bad shadow-card"
}

const sizes = {
  small: "h-7 px-2.5 text-sm gap-1.5 rounded-md",
  normal: "h-9 px-3.5 text-base gap-2 rounded-lg"
}

const lookOf = ({ look = "plain", size = "normal" }: Look, className: string | undefined) =>
  classes(
    "relative inline-flex shrink-0 items-center justify-center border font-medium whitespace-nowrap select-none",
    "transition-[background,border-color,color,opacity] duration-100",
    "disabled:cursor-not-allowed disabled:opacity-50 aria-busy:cursor-progress",
    looks[look],
    sizes[size],
    className
  )

/** What takes longer than this shows that it works. What is faster does not flicker. */
const patienceMs = 100

/** Works once at a time, and says so when the work takes a while. */
const useWork = (work: ((event: MouseEvent<HTMLButtonElement>) => unknown) | undefined) => {
  const [state, setState] = useState<"idle" | "begun" | "working">("idle")
  const onClick = async (event: MouseEvent<HTMLButtonElement>) => {
    const outcome = work?.(event)
    if (!(outcome instanceof Promise)) return
    setState("begun")
    const timer = setTimeout(() => setState("working"), patienceMs)
    try {
      await outcome
    } finally {
      clearTimeout(timer)
      setState("idle")
    }
  }
  return { onClick, isBegun: state !== "idle", isWorking: state === "working" }
}

/** While it works it cannot be pressed again, but it keeps the focus of whoever uses the keyboard. */
export const Button = ({
  busy = false,
  children,
  className,
  disabled,
  icon,
  look,
  onClick,
  size,
  type = "button",
  ...rest
}: Look & {
  readonly busy?: boolean
  /** A promise is waited for. */
  readonly onClick?: (event: MouseEvent<HTMLButtonElement>) => unknown
} & Omit<ComponentProps<"button">, "onClick">) => {
  const work = useWork(onClick)
  const isBusy = busy || work.isBegun
  return (
    <button
      {...rest}
      type={type}
      disabled={disabled}
      aria-disabled={isBusy || undefined}
      aria-busy={isBusy}
      onClick={(event) => {
        if (!isBusy) return work.onClick(event)
        event.preventDefault()
      }}
      className={lookOf({ ...(look && { look }), ...(size && { size }) }, className)}
    >
      {busy || work.isWorking ? <Spinner /> : icon}
      {children}
    </button>
  )
}

/** A link that looks like a button. */
export const ButtonLink = createLink(
  ({ children, className, icon, look, size, ...rest }: Look & ComponentProps<"a">) => (
    <a {...rest} className={lookOf({ ...(look && { look }), ...(size && { size }) }, className)}>
      {icon}
      {children}
    </a>
  )
)

/** A button with a picture only. Its name is for those who cannot see it, and on hover. */
export const IconButton = ({
  className,
  label,
  ...rest
}: { readonly label: string } & ComponentProps<"button">) => (
  <button
    type="button"
    title={label}
    aria-label={label}
    {...rest}
    className={classes(
      "inline-grid size-8 shrink-0 place-items-center rounded-md text-faint transition-colors duration-100 hover:bg-sunken hover:text-ink disabled:opacity-40",
      className
    )}
  />
)
