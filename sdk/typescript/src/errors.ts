/** What an error means to a caller. A newer server may have other kinds. */
export type Kind =
  | "invalid"
  | "not_found"
  | "conflict"
  | "busy"
  | "damaged"
  | "untrusted"
  | "refused"
  | "quota"
  | "cross_tenant"
  | "too_new"
  | "unsupported"
  | "unreachable"
  | "internal";

/** What is known of an error beside its message. */
export interface ErrorDetails {
  hint?: string | undefined;
  reason?: string | undefined;
  requestId?: string | undefined;
  status?: number | undefined;
  cause?: unknown;
}

/** Every error of Amber, from the server or from this client. `kind` tells errors apart, and so do the subclasses. */
export class AmberError extends Error {
  readonly kind: Kind | (string & {});
  /** What to do next, where that is known. */
  readonly hint: string | undefined;
  /** Tells errors of one kind apart where a program has to. */
  readonly reason: string | undefined;
  /** Is in the log of the server. */
  readonly requestId: string | undefined;
  /** The status of the answer; undefined where no server has answered. */
  readonly status: number | undefined;

  constructor(kind: Kind | (string & {}), message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.kind = kind;
    this.hint = details.hint;
    this.reason = details.reason;
    this.requestId = details.requestId;
    this.status = details.status;
  }
}

/** The request makes no sense as it is. */
export class InvalidError extends AmberError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("invalid", message, details);
  }
}

/** There is no such thing, or not for this caller. */
export class NotFoundError extends AmberError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("not_found", message, details);
  }
}

/** Somebody else has changed the thing, or it is not known whether a request was carried out. */
export class ConflictError extends AmberError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("conflict", message, details);
  }
}

/** The server has too much to do. It was tried again for as long as the client may. */
export class BusyError extends AmberError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("busy", message, details);
  }
}

/** Stored data, or an answer, is not what was written. */
export class DamagedError extends AmberError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("damaged", message, details);
  }
}

/** A signature, or the owner of a file, is not one that is trusted. */
export class UntrustedError extends AmberError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("untrusted", message, details);
  }
}

/** The caller may not do that. */
export class RefusedError extends AmberError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("refused", message, details);
  }
}

/** A bound was reached. */
export class QuotaError extends AmberError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("quota", message, details);
  }
}

/** The thing belongs to another tenant. */
export class CrossTenantError extends AmberError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("cross_tenant", message, details);
  }
}

/** The data was written by a newer Amber. */
export class TooNewError extends AmberError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("too_new", message, details);
  }
}

/** This store or server cannot do that. */
export class UnsupportedError extends AmberError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("unsupported", message, details);
  }
}

/** No server of Amber has answered. */
export class UnreachableError extends AmberError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("unreachable", message, details);
  }
}

/** Something went wrong inside. */
export class InternalError extends AmberError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("internal", message, details);
  }
}

const classes: Record<Kind, new (message: string, details?: ErrorDetails) => AmberError> = {
  invalid: InvalidError,
  not_found: NotFoundError,
  conflict: ConflictError,
  busy: BusyError,
  damaged: DamagedError,
  untrusted: UntrustedError,
  refused: RefusedError,
  quota: QuotaError,
  cross_tenant: CrossTenantError,
  too_new: TooNewError,
  unsupported: UnsupportedError,
  unreachable: UnreachableError,
  internal: InternalError,
};

/** The error of a kind. A kind that this client does not know is an AmberError and nothing more. */
export function errorOf(kind: string, message: string, details: ErrorDetails = {}): AmberError {
  if (Object.hasOwn(classes, kind)) {
    return new classes[kind as Kind](message, details);
  }
  return new AmberError(kind, message, details);
}

/** The error in a document `{"error": {...}}`; undefined where the document is something else. */
export function errorIn(document: unknown, details: ErrorDetails = {}): AmberError | undefined {
  if (typeof document !== "object" || document === null) {
    return undefined;
  }
  const body = (document as { error?: unknown }).error;
  if (typeof body !== "object" || body === null) {
    return undefined;
  }
  const { kind, message, hint, reason, request_id } = body as Record<string, unknown>;
  if (typeof kind !== "string" || kind === "" || typeof message !== "string") {
    return undefined;
  }
  const text = (v: unknown): string | undefined => (typeof v === "string" && v !== "" ? v : undefined);
  return errorOf(kind, message, { ...details, hint: text(hint), reason: text(reason), requestId: text(request_id) ?? details.requestId });
}
