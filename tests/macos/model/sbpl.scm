;; SPDX-License-Identifier: Apache-2.0
;;
;; A model of Seatbelt's profile language: loads a profile, checks it (lint) and gives the kernel's
;; verdicts. The rules of evaluation were derived from compiled profiles of macOS 14.4, and compared with
;; probes that others recorded on macOS 14.4.1 (recorded.txt).
;;
;;   guile sbpl.scm lint PROFILE...             prints flaws; status 1 if there are any
;;   guile sbpl.scm lint-stream                 the same for the profiles that profile_cases writes to stdin
;;   guile sbpl.scm recorded                    compares with recorded probes of a Mac on stdin
;;   guile sbpl.scm ask PROFILE [k=v...] < QUERIES   prints the verdict and the query
;;   guile sbpl.scm table TABLE [NAME=VALUE...] PROFILE...   status 1 if a line is wrong for a profile
;;   guile sbpl.scm compare [chars]             reads the output of profile_cases from stdin; see there
;;
;; A query is an operation and key=value words: path, type (of the file), target, name, remote, local,
;; extension, ioctl, domain. Bytes that are not plain are %XX. Each byte of a path is one character, or
;; with `chars` the path is UTF-8: a profile must be correct in both modes.

(use-modules (srfi srfi-1) (srfi srfi-11) (srfi srfi-13) (rnrs bytevectors) (ice-9 rdelim) (ice-9 format) (ice-9 textual-ports))

(define here (dirname (car (command-line))))
(define chars? #f)
(define problems '())
(define (problem . words) (set! problems (cons (apply format #f words) problems)))

;; ---- Operations

(define operations
  (call-with-input-file (string-append here "/operations.txt")
    (lambda (port)
      (let loop ((names '()))
        (let ((line (read-line port)))
          (cond ((eof-object? line) (reverse names))
                ((or (string-null? line) (char=? (string-ref line 0) #\#)) (loop names))
                (else (loop (cons (string->symbol line) names)))))))))

;; ---- What the compiler accepts: filters.txt has the tables of macOS 10.15, later.txt what came after.

(define (read-words name)
  (call-with-input-file (string-append here "/" name)
    (lambda (port)
      (let loop ((lines '()))
        (let ((line (read-line port)))
          (cond ((eof-object? line) lines)
                ((or (string-null? line) (char=? (string-ref line 0) #\#)) (loop lines))
                (else (loop (cons (filter (lambda (w) (not (string-null? w))) (string-split line #\space)) lines)))))))))
(define accepted (make-hash-table))      ; operation -> categories
(define category-of (make-hash-table))   ; filter -> category
(define values-of (make-hash-table))     ; filter -> constants
(for-each
 (lambda (words)
   (let ((name (string->symbol (cadr words))) (rest (map string->symbol (cddr words))))
     (case (string->symbol (car words))
       ((operation) (hashq-set! accepted name rest))
       ((filter) (hashq-set! category-of name (car rest)))
       ((value) (hashq-set! values-of name (append rest (hashq-ref values-of name '())))))))
 (read-words "filters.txt"))
(define later (map (lambda (words) (map string->symbol (take words 2))) (read-words "later.txt")))
;; Words of the language that stand for one of those filters.
(define filter-aliases
  '((literal . path) (subpath . path) (prefix . path) (regex . path) (sysctl-name-prefix . sysctl-name)
    (ipc-posix-name-prefix . ipc-posix-name)))
(define (takes? operation word)
  (let ((category (hashq-ref category-of (or (assq-ref filter-aliases word) word))))
    (or (and category (memq category (hashq-ref accepted operation '())))
        (member (list operation word) later))))

;; Operations that (deny default) of version 1 does not cover, and those that ignore rules on parents.
(define open-anyway
  '(darwin-notification-post dynamic-code-generation file-clone file-link file-lock file-map-executable file-test-existence fs-quota*
    fs-snapshot-mount iokit-get-properties iokit-open-service mach-bootstrap mach-cross-domain-lookup mach-derive-port mach-kernel-endpoint
    mach-task-special-port* necp-client-open nvram* process-codesigning process-info* process-info-codesignature socket-ioctl
    socket-option-get socket-option-set syscall-unix syscall-mach syscall-mig system-fcntl system-mac-syscall system-memorystatus-control
    system-necp-client-action system-privilege process-exec-update-label))
(define closed-anyway '(default file-write-setugid job-creation system-kas-info storage-class-map))
(define aliases
  '((process-exec . process-exec*) (ipc-posix-sem . ipc-posix-sem*) (ipc-posix-shm . ipc-posix-shm*) (iokit-open . iokit-open-user-client)
    (file-unlink . file-write-unlink) (sysctl-write . sysctl*)))
(define odd-parents '((network-bind . network-inbound) (file-mount-update . file-mount) (managed-preference-read . user-preference*)))

;; Returns the longest X* that is a prefix of the name.
(define (find-parent operation)
  (cond ((memq operation open-anyway) 'allow)
        ((memq operation closed-anyway) 'deny)
        ((assq operation odd-parents) => cdr)
        (else
         (let ((name (symbol->string operation)))
           (fold (lambda (candidate best)
                   (let* ((text (symbol->string candidate)) (stem (1- (string-length text))))
                     (if (and (not (eq? candidate operation)) (char=? (string-ref text stem) #\*) (string-prefix? text name 0 stem)
                              (or (eq? best 'default) (> stem (1- (string-length (symbol->string best))))))
                         candidate best)))
                 'default operations)))))
(define parents (make-hash-table))
(for-each (lambda (operation) (hashq-set! parents operation (find-parent operation))) operations)
(define (parent operation) (hashq-ref parents operation))

;; ---- Regular expressions: only the syntax that berm writes; everything else is an error on purpose.

(define (regex-error text at) (error "a regular expression that is not known to be safe" text at))

;; A matcher takes a string, a position and a continuation; it returns #f or the result of that.
(define most-ranges 15)                 ; a compiled class has a count of four bits
(define (class-of text at)              ; after `[`: a predicate and the position behind `]`
  (let* ((negated? (char=? (string-ref text at) #\^)) (start (if negated? (1+ at) at)) (set (make-bitvector 256 #f)))
    (let loop ((i start) (ranges 0))
      (when (= ranges (1+ most-ranges)) (problem "a class of more than ~a ranges: ~a" most-ranges text))
      (let ((c (string-ref text i)))
        (cond ((and (char=? c #\]) (> i start))
               (values (lambda (x) (let ((in? (and (< (char->integer x) 256) (bitvector-bit-set? set (char->integer x))))) (if negated? (not in?) in?)))
                       (1+ i)))
              ((memv c '(#\] #\[ #\^ #\\ #\" #\{ #\})) (regex-error text i))
              ((and (char=? (string-ref text (1+ i)) #\-) (not (char=? (string-ref text (+ 2 i)) #\])))
               (let ((high (string-ref text (+ 2 i))))
                 (when (or (char<? high c) (memv high '(#\[ #\] #\^ #\\ #\" #\{ #\}))) (regex-error text i))
                 (do ((x (char->integer c) (1+ x))) ((> x (char->integer high))) (bitvector-set-bit! set x))
                 (loop (+ 3 i) (1+ ranges))))
              (else (when (char=? c #\-) (regex-error text i)) (bitvector-set-bit! set (char->integer c)) (loop (1+ i) (1+ ranges))))))))

(define (one-of accepts?)
  (lambda (s i next) (and (< i (string-length s)) (accepts? (string-ref s i)) (next (1+ i)))))
(define (nothing s i next) (next i))
(define (followed-by a b) (if (eq? a nothing) b (lambda (s i next) (a s i (lambda (j) (b s j next))))))
(define (either a b) (lambda (s i next) (or (a s i next) (b s i next))))
(define (many a) (define (again s i next) (or (a s i (lambda (j) (and (> j i) (again s j next)))) (next i))) again)
;; A repeated class needs no stack: it matches as far as possible, then goes back one by one.
(define (many-of accepts? least)
  (lambda (s i next)
    (let ((end (let loop ((j i)) (if (and (< j (string-length s)) (accepts? (string-ref s j))) (loop (1+ j)) j))))
      (let loop ((j end)) (and (>= j (+ i least)) (or (next j) (loop (1- j))))))))

(define (parse-regex text at)           ; alternatives up to `)` or the end
  (let loop ((i at) (sequence nothing) (done #f))
    (define (finish) (if done (either done sequence) sequence))
    (define (add item class after)
      (let ((c (if (< after (string-length text)) (string-ref text after) #\nul)))
        (case c
          ((#\*) (loop (1+ after) (followed-by sequence (if class (many-of class 0) (many item))) done))
          ((#\+) (loop (1+ after) (followed-by sequence (if class (many-of class 1) (followed-by item (many item)))) done))
          ((#\?) (loop (1+ after) (followed-by sequence (either item nothing)) done))
          (else (loop after (followed-by sequence item) done)))))
    (if (= i (string-length text))
        (values (finish) i)
        (let ((c (string-ref text i)))
          (case c
            ((#\)) (values (finish) i))
            ((#\|) (loop (1+ i) nothing (finish)))
            ((#\() (let-values (((inner end) (parse-regex text (1+ i))))
                     (unless (and (< end (string-length text)) (char=? (string-ref text end) #\))) (regex-error text i))
                     (add inner #f (1+ end))))
            ((#\[) (let-values (((accepts? end) (class-of text (1+ i)))) (add (one-of accepts?) accepts? end)))
            ((#\$) (loop (1+ i) (followed-by sequence (lambda (s j next) (and (= j (string-length s)) (next j)))) done))
            ((#\^) (unless (= i 0) (regex-error text i))
                   (loop (1+ i) (followed-by sequence (lambda (s j next) (and (= j 0) (next j)))) done))
            ((#\* #\+ #\? #\. #\\ #\] #\{ #\} #\") (regex-error text i))
            (else (add (one-of (lambda (x) (char=? x c))) #f (1+ i))))))))

(define regexes (make-hash-table))
(define (compile-regex text)
  (or (hash-ref regexes text)
      (let-values (((matcher end) (parse-regex text 0)))
        (unless (= end (string-length text)) (regex-error text end))
        (let* ((first (if (string-null? text) #\nul (string-ref text 0)))
               (after (lambda (j) #t))
               (search
                (cond ((char=? first #\^) (lambda (s) (matcher s 0 after)))
                      ;; A match can only begin at a slash.
                      ((or (char=? first #\/) (string-prefix? "(/" text))
                       (lambda (s) (let loop ((i 0)) (let ((slash (string-index s #\/ i))) (and slash (or (matcher s slash after) (loop (1+ slash))))))))
                      (else (lambda (s) (let loop ((i 0)) (and (<= i (string-length s)) (or (matcher s i after) (loop (1+ i))))))))))
          (hash-set! regexes text search)
          search))))

;; ---- Rules

(define rules #f)      ; operation -> filtered rules, newest first: #(filter action serial)
(define tails #f)      ; operation -> the unfiltered rule
(define serial 0)
(define parameters '())
(define granted '())   ; paths in grants
(define (reset!)
  (set! rules (make-hash-table)) (set! tails (make-hash-table)) (set! serial 0) (set! parameters '()) (set! problems '()) (set! granted '()))

;; A filter is a pair: its test, and its properties for lint.
(define (filter? x) (and (pair? x) (procedure? (car x))))
(define (make-filter test . remarks) (cons test remarks))
(define (remarks-of filters) (append-map cdr filters))

(define (add-rule! action arguments)
  (set! serial (1+ serial))
  (let* ((operation? (lambda (x) (and (pair? x) (eq? (car x) 'operation))))
         (ops (map cdr (filter operation? arguments)))
         (filters (filter filter? arguments))
         (modifiers (remove (lambda (x) (or (operation? x) (filter? x))) arguments)))
    (when (null? ops) (problem "rule ~a: no operation" serial))
    (when (and (eq? action 'deny) (not (any (lambda (m) (and (pair? m) (eq? (cadr m) 'message) (string? (caddr m)))) modifiers)))
      (problem "rule ~a: a denial without a tag: ~a" serial ops))
    (for-each
     (lambda (op)
       (unless (hashq-ref accepted (if (eq? op 'iokit-open-user-client) 'iokit-open op)) (problem "rule ~a: macOS 10.15 does not know ~a" serial op))
       (for-each (lambda (word) (unless (takes? op word) (problem "rule ~a: ~a may not take the filter ~a" serial op word)))
                 (delete-duplicates (filter-map (lambda (r) (and (pair? r) (eq? (car r) 'uses) (cdr r))) (remarks-of filters)))))
     ops)
    (when (eq? action 'allow)
      (set! granted (append (filter-map (lambda (r) (and (pair? r) (eq? (car r) 'path) (cdr r))) (remarks-of filters)) granted)))
    (when (and (eq? action 'allow) (memq 'regex (remarks-of filters))) (problem "rule ~a: a regular expression in a grant: ~a" serial ops))
    (for-each
     (lambda (op)
       (if (null? filters)
           (hashq-set! tails op (cons action serial))
           (let ((test (lambda (c) (any (lambda (f) ((car f) c)) filters))))
             (hashq-set! rules op (cons (vector test action serial) (hashq-ref rules op '()))))))
     ops)))

(define (decide operation context)
  (let loop ((op operation))
    (let ((hit (find (lambda (rule) ((vector-ref rule 0) context)) (hashq-ref rules op '()))))
      (cond (hit (vector-ref hit 1))
            ((hashq-ref tails op) => car)
            (else (let ((up (parent op))) (if (memq up '(allow deny)) up (loop up))))))))

;; ---- Filters

;; ASCII letters only: it is not known what else the compiler folds.
(define (fold-ascii s) (string-map (lambda (c) (if (char<=? #\A c #\Z) (integer->char (+ 32 (char->integer c))) c)) s))
(define (text x) (if (string? x) x (begin (problem "a filter without text: ~s" x) "")))
(define (on key test . remarks)
  (lambda values
    (let ((wanted (map text values)))
      (apply make-filter (lambda (c) (let ((v (assq-ref c key))) (and v (any (lambda (w) (test v w)) wanted)))) remarks))))
;; Queries have the folded path under `folded`.
(define (on-path test)
  (lambda values
    (for-each (lambda (v)
                (unless (and (string-prefix? "/" (text v)) (or (string=? v "/") (not (string-suffix? "/" v))) (not (string-contains v "//")))
                  (problem "not a clean path: ~s" v)))
              values)
    (let ((wanted (map fold-ascii values)))
      (apply make-filter (lambda (c) (let ((v (assq-ref c 'folded))) (and v (any (lambda (w) (test v w)) wanted))))
             (map (lambda (w) (cons 'path w)) values)))))
(define (under? path directory)
  (and (string-prefix? directory path)
       (or (= (string-length path) (string-length directory)) (string=? directory "/") (char=? #\/ (string-ref path (string-length directory))))))
(define (regex . values)
  (let ((searches (map compile-regex values)))
    (make-filter (lambda (c) (let ((v (assq-ref c 'path))) (and v (any (lambda (search) (search v)) searches)))) 'regex)))
(define (member-of key word)
  (lambda values
    (for-each (lambda (v) (unless (or (number? v) (memq v (hashq-ref values-of word '()))) (problem "macOS 10.15 does not know ~a of ~a" v word))) values)
    (make-filter (lambda (c) (->bool (memv (assq-ref c key) values))))))
;; "tcp4 127.0.0.1:80" against tcp and "localhost:80" or "*:80".
(define (network key)
  (lambda (protocol . addresses)
    (for-each (lambda (a)
                (let ((colon (string-rindex (text a) #\:)))
                  (unless (and colon (member (substring a 0 colon) '("*" "localhost"))) (problem "not a host that is known: ~s" a))))
              addresses)
    (make-filter
     (lambda (c)
       (let ((v (assq-ref c key)))
         (and v
              (let* ((blank (string-index v #\space)) (kind (substring v 0 blank)) (place (substring v (1+ blank)))
                     (colon (string-rindex place #\:)) (host (substring place 0 colon)) (port (substring place (1+ colon))))
                (and (or (eq? protocol 'ip) (string-prefix? (symbol->string protocol) kind))
                     (or (null? addresses)
                         (any (lambda (a)
                                (let* ((mark (string-rindex a #\:)) (h (substring a 0 mark)) (p (substring a (1+ mark))))
                                  (and (or (string=? h "*") (member host '("localhost" "127.0.0.1" "[::1]")))
                                       (or (string=? p "*") (string=? p port)))))
                              addresses))))))))))

;; The words that berm uses; any other is an error.
(define language (make-hash-table))
(define (define! name value) (hashq-set! language name value))
(define (evaluate form)
  (cond ((pair? form) (apply (evaluate (car form)) (map evaluate (cdr form))))
        ((symbol? form) (or (hashq-ref language form) (error "a word that is not known" form)))
        (else form)))
(for-each (lambda (op) (define! op (cons 'operation op))) operations)
(for-each (lambda (alias) (define! (car alias) (cons 'operation (cdr alias)))) aliases)
(for-each (lambda (word) (define! word word))
          '(message self others children pgrp same-sandbox REGULAR-FILE DIRECTORY SYMLINK SOCKET AF_UNIX AF_INET AF_SYSTEM FSIOC_CAS_BSDFLAGS
            ip tcp udp))
(for-each
 (lambda (pair) (define! (car pair) (cdr pair)))
 `((allow . ,(lambda a (add-rule! 'allow a)))
   (deny . ,(lambda a (add-rule! 'deny a)))
   (version . ,(lambda (n) (unless (and (= n 1) (= serial 0)) (problem "not version 1, or not first"))))
   (param . ,(lambda (name) (or (assoc-ref parameters name) (begin (problem "no such parameter: ~a" name) #f))))
   (with . ,(lambda (kind . rest) (cons* 'with kind rest)))
   (require-all . ,(lambda fs (apply make-filter (lambda (c) (every (lambda (f) ((car f) c)) fs)) (remarks-of fs))))
   (require-any . ,(lambda fs (apply make-filter (lambda (c) (any (lambda (f) ((car f) c)) fs)) (remarks-of fs))))
   (require-not . ,(lambda (f) (apply make-filter (lambda (c) (not ((car f) c))) (cdr f))))
   (literal . ,(on-path string=?))
   (subpath . ,(on-path under?))
   (prefix . ,(on-path (lambda (v w) (string-prefix? w v))))
   (regex . ,regex)
   (vnode-type . ,(member-of 'type 'vnode-type))
   (target . ,(lambda values
                (make-filter (lambda (c) (let ((t (assq-ref c 'target))) (or (memq t values) (and (eq? t 'self) (memq 'same-sandbox values))))))))
   (socket-domain . ,(member-of 'domain 'socket-domain))
   (socket-protocol . ,(member-of 'protocol 'socket-protocol))
   (fsctl-command . ,(member-of 'fsctl 'fsctl-command))
   (ioctl-command . ,(member-of 'ioctl 'ioctl-command))
   (_IO . ,(lambda (group number) (+ number (* 256 (char->integer (string-ref group 0))))))
   (extension . ,(on 'extension string=?))
   (global-name . ,(on 'name string=?))
   (sysctl-name . ,(on 'name string=?))
   (sysctl-name-prefix . ,(on 'name (lambda (v w) (string-prefix? w v))))
   (ipc-posix-name . ,(on 'name string=?))
   (ipc-posix-name-prefix . ,(on 'name (lambda (v w) (string-prefix? w v))))
   (iokit-registry-entry-class . ,(on 'name string=?))
   (remote . ,(network 'remote))
   (local . ,(network 'local))))

;; Every filter remembers its word, so that rules are checked against the tables.
(for-each
 (lambda (word)
   (let ((make (hashq-ref language word)))
     (define! word (lambda values (let ((made (apply make values))) (cons (car made) (cons (cons 'uses word) (cdr made))))))))
 '(literal subpath prefix regex vnode-type target socket-domain socket-protocol fsctl-command ioctl-command extension global-name sysctl-name
   sysctl-name-prefix ipc-posix-name ipc-posix-name-prefix iokit-registry-entry-class remote local))

;; ---- Reading

(define (decode-percent s)
  (let* ((bytes (let loop ((i 0) (out '()))
                  (cond ((>= i (string-length s)) (reverse out))
                        ((char=? (string-ref s i) #\%) (loop (+ i 3) (cons (string->number (substring s (1+ i) (+ i 3)) 16) out)))
                        (else (loop (1+ i) (cons (char->integer (string-ref s i)) out))))))
         (latin (list->string (map integer->char bytes))))
    (if (and chars? (any (lambda (b) (> b 127)) bytes))
        (or (false-if-exception (utf8->string (u8-list->bytevector bytes))) latin)
        latin)))

(define (raw-string c port)             ; #"..."
  (let loop ((out '()))
    (let ((c (read-char port)))
      (cond ((eof-object? c) (error "a string without end"))
            ((char=? c #\") (list->string (reverse out)))
            (else (loop (cons c out)))))))
(read-disable 'positions)
(read-hash-extend #\" raw-string)

(define plain (char-set-adjoin (ucs-range->char-set 32 127) #\newline))
(define (lint-bytes text)
  (let ((odd (string-index text (char-set-complement plain))))
    (when odd (problem "a character that is not plain: ~a" (char->integer (string-ref text odd)))))
  ;; A comment quotes the policy, which may contain one.
  (let loop ((at 0))
    (let ((found (string-index text #\\ at)))
      (when found
        (let ((line (1+ (or (string-rindex text #\newline 0 found) -1))))
          (unless (char=? #\; (string-ref text (string-skip text #\space line))) (problem "a backslash")))
        (loop (1+ found))))))

(define (read-parameters text)
  (for-each (lambda (line)
              (when (string-prefix? "; -D " line)
                (let ((equals (string-index line #\=)))
                  (set! parameters (acons (substring line 5 equals) (decode-percent (substring line (1+ equals))) parameters)))))
            (string-split text #\newline)))

;; The compiler refuses data of more than 65,535 bytes in one object. A form is kept below a quarter.
(define most-bytes 16384)
(define (string-bytes form)
  (cond ((string? form) (string-length form))
        ((pair? form) (if (eq? (car form) 'param) (string-length (or (assoc-ref parameters (cadr form)) "")) (+ (string-bytes (car form)) (string-bytes (cdr form)))))
        (else 0)))
(define (lint-size form)
  (let ((bytes (string-bytes form)))
    (when (> bytes most-bytes) (problem "a form with ~a bytes of text" bytes))))

(define (load-profile text given)
  (reset!)
  (set! parameters given)
  (lint-bytes text)
  (read-parameters text)
  (call-with-input-string text
    (lambda (port)
      (let loop ()
        (let ((form (read port)))
          (unless (eof-object? form)
            (lint-size form)
            (if (and (pair? form) (memq (car form) '(version allow deny)))
                (catch #t (lambda () (evaluate form)) (lambda (key . rest) (problem "~a: ~s" key rest)))
                (problem "a form that is neither allow nor deny: ~s" form))
            (loop))))))
  (lint-levels))

;; ---- Lint

;; stat() is allowed everywhere on purpose: the only grant on a child of a denied operation.
(define free-anyway '(file-read-metadata))
(define (has? op action) (or (any (lambda (r) (eq? (vector-ref r 1) action)) (hashq-ref rules op '())) (eq? action (and=> (hashq-ref tails op) car))))
(define (filtered-deny? op) (any (lambda (r) (eq? (vector-ref r 1) 'deny)) (hashq-ref rules op '())))
(define file-levels '(file-read* file-write* file-link file-clone process-exec* network-inbound network-outbound))
(define data-volume "/System/Volumes/Data")
(define (probe operation path type)
  (decide operation `((path . ,path) (folded . ,(fold-ascii path)) (type . ,type))))
;; A directory is cloned with all files in it, and the data volume shows all files of the machine.
(define (lint-leaks)
  (for-each (lambda (path) (when (eq? 'allow (probe 'file-clone path 'DIRECTORY)) (problem "a directory can be cloned: ~a" path)))
            (delete-duplicates (cons data-volume granted)))
  (for-each (lambda (path) (when (eq? 'allow (probe 'file-link path 'REGULAR-FILE)) (problem "a link can be made: ~a" path)))
            (delete-duplicates granted))
  (for-each (lambda (op)
              (unless (any (lambda (path) (under? (fold-ascii path) (fold-ascii data-volume))) granted)
                (when (eq? 'allow (probe op (string-append data-volume "/some/where") 'REGULAR-FILE)) (problem "the data volume is open to ~a" op))))
            '(file-read-data file-write-data process-exec*)))
(define (lint-levels)
  (lint-leaks)
  (unless (equal? (and=> (hashq-ref tails 'default) car) 'deny) (problem "the default is not to deny"))
  (for-each
   (lambda (op)
     (let up ((above (parent op)))
       (unless (memq above '(allow deny default))
         (when (and (filtered-deny? above) (has? op 'allow) (not (memq op free-anyway)))
           (problem "what is denied on ~a is granted on its child ~a" above op))
         (up (parent above)))))
   operations)
  (for-each
   (lambda (op)
     (let ((newest (hashq-ref rules op '())))
       (cond ((null? newest) (problem "nothing is said of ~a" op))
             ((not (eq? 'deny (vector-ref (car newest) 1))) (problem "the last word on ~a is a grant" op)))))
   file-levels)
  ;; An unfiltered rule must not allow an operation that other rules filter.
  (for-each (lambda (op) (when (eq? 'allow (and=> (hashq-ref tails op) car)) (problem "~a is granted without a filter" op)))
            (append file-levels '(default file* file-write-unlink file-write-create network* mach-lookup signal))))

;; ---- Queries

(define (make-query words)              ; ("operation" "key=value" ...)
  (let* ((op (string->symbol (car words)))
         (context (map (lambda (word)
                         (let* ((equals (string-index word #\=)) (key (string->symbol (substring word 0 equals)))
                                (value (decode-percent (substring word (1+ equals)))))
                           (cons key (case key
                                       ((type target domain fsctl) (string->symbol value))
                                       ((ioctl protocol) (string->number value))
                                       (else value)))))
                       (cdr words)))
         (path (assq-ref context 'path)))
    (unless (memq op operations) (error "no such operation" op))
    (cons op (if path (acons 'folded (fold-ascii path) context) context))))
(define (ask words) (let ((query (make-query words))) (decide (car query) (cdr query))))
(define (split line) (filter (lambda (w) (not (string-null? w))) (string-split line #\space)))

(define (read-file name) (call-with-input-file name get-string-all #:encoding "ISO-8859-1"))
(define (report-problems name)
  (for-each (lambda (p) (format #t "~a: ~a~%" name p)) (delete-duplicates (reverse problems)))
  (null? problems))

(define (each-line port work)
  (let loop () (let ((line (read-line port))) (unless (eof-object? line) (work line) (loop)))))

(define (assignments words)
  (map (lambda (w) (let ((e (string-index w #\=))) (cons (substring w 0 e) (decode-percent (substring w (1+ e)))))) words))

(define (command-ask file given)
  (load-profile (read-file file) (assignments given))
  (each-line (current-input-port) (lambda (line) (format #t "~a ~a~%" (ask (split line)) line))))

(define (substitute line names)
  (fold (lambda (pair line)
          (let loop ((line line))
            (let ((at (string-contains line (string-append "$" (car pair)))))
              (if at (loop (string-replace line (cdr pair) at (+ at 1 (string-length (car pair))))) line))))
        line names))

;; A table: `allow|deny OPERATION key=value...`, `;` comments, `$NAME` from the command line.
(define (command-table table words)
  (let-values (((given files) (partition (lambda (w) (string-index w #\=)) words)))
    (let ((names (assignments given)) (asked 0) (wrong 0))
      (for-each
       (lambda (file)
         (load-profile (read-file file) names)
         (unless (report-problems file) (set! wrong (1+ wrong)))
         (call-with-input-file table
           (lambda (port)
             (each-line port
               (lambda (line)
                 (let ((words (split (substitute (car (string-split line #\;)) names))))
                   (unless (null? words)
                     (set! asked (1+ asked))
                     (let ((verdict (ask (cdr words))))
                       (unless (eq? verdict (string->symbol (car words)))
                         (set! wrong (1+ wrong))
                         (format #t "~a: ~a, but the table says: ~a~%" file verdict (string-join words " "))))))))))) 
       files)
      (format #t "~a answers, ~a wrong~%" asked wrong)
      (exit (if (= wrong 0) 0 1)))))

;; The output of profile_cases: `PROFILE bytes` and the text; `QUERY verdict class operation key=value...`.
;; A class explains a difference: `-` none, `stricter:NAME` only if the profile denies, `weaker:NAME` only
;; if it allows; several are separated by commas.
(define (command-compare)
  (let ((asked 0) (profiles 0) (unexplained 0) (explained (make-hash-table)) (allowed 0))
    (set-port-encoding! (current-input-port) "ISO-8859-1")
    (each-line (current-input-port)
      (lambda (line)
        (let ((words (split line)))
          (cond
           ((string=? (car words) "PROFILE")
            (set! profiles (1+ profiles))
            (load-profile (get-string-n (current-input-port) (string->number (cadr words))) '())
            (unless (report-problems (format #f "profile ~a" profiles)) (set! unexplained (1+ unexplained))))
           (else
            (let* ((verdict (ask (cdddr words))) (wanted (string->symbol (cadr words))) (class (caddr words)))
              (set! asked (1+ asked))
              (when (eq? wanted 'allow) (set! allowed (1+ allowed)))
              (unless (eq? verdict wanted)
                (let ((why (find (lambda (c) (string-prefix? (if (eq? verdict 'deny) "stricter:" "weaker:") c)) (string-split class #\,))))
                  (if why
                    (begin
                      (when (getenv "BERM_SHOW") (format #t "profile ~a: ~a (~a): ~a~%" profiles verdict why line))
                      (hash-set! explained why (1+ (hash-ref explained why 0))))
                    (begin
                      (set! unexplained (1+ unexplained))
                      (when (< unexplained 20) (format #t "profile ~a: ~a, but check says ~a~%" profiles verdict line))))))))))))
    (let ((differences (hash-fold (lambda (k v sum) (+ v sum)) 0 explained)))
      (format #t "~a profiles, ~a questions (~a allowed), ~a differences without an explanation, ~a documented" profiles asked allowed unexplained differences)
      (for-each (lambda (pair) (format #t "; ~a: ~a" (car pair) (cdr pair)))
                (sort (hash-map->list cons explained) (lambda (a b) (string<? (car a) (car b)))))
      (format #t "~%")
      (exit (if (and (= unexplained 0) (> asked 0) (<= (* 50 differences) asked)) 0 1)))))

(define (command-lint files)
  (exit (if (every (lambda (file) (load-profile (read-file file) '(("PROXY" . "localhost:8899"))) (report-problems file)) files) 0 1)))

;; To pass a symlink needs file-read-metadata on the link's own path, `via`.
(define (ask-through words)
  (let-values (((links rest) (partition (lambda (w) (string-prefix? "via=" w)) words)))
    (if (every (lambda (w) (eq? 'allow (probe 'file-read-metadata (substring w 4) 'SYMLINK))) links) (ask rest) 'deny)))

;; Recorded probes of a Mac: the format of `compare`, with other profiles than berm's, which lint does not
;; concern. A profile with a word that the model does not know is counted and left out.
(define (command-recorded)
  (let ((asked 0) (wrong 0) (unknown 0) (name "") (is-known #t))
    (each-line (current-input-port)
      (lambda (line)
        (let ((words (split line)))
          (cond
           ((or (null? words) (string-prefix? "#" line)) #t)
           ((string=? (car words) "PROFILE")
            (set! name (caddr words))
            (load-profile (get-string-n (current-input-port) (string->number (cadr words))) '())
            (set! is-known (not (any (lambda (p) (string-contains p "a word that is not known")) problems))))
           ((not is-known) (set! unknown (1+ unknown)))
           (else
            (set! asked (1+ asked))
            (unless (eq? (ask-through (cdddr words)) (string->symbol (cadr words)))
              (set! wrong (1+ wrong))
              (format #t "~a: the Mac says: ~a~%" name line)))))))
    (format #t "~a recorded probes, ~a differ, ~a of profiles that the model does not know~%" asked wrong unknown)
    (exit (if (and (= wrong 0) (> asked 40)) 0 1))))

(define (command-lint-stream)
  (let ((profiles 0) (flawed 0))
    (set-port-encoding! (current-input-port) "ISO-8859-1")
    (each-line (current-input-port)
      (lambda (line)
        (let ((words (split line)))
          (when (string=? (car words) "PROFILE")
            (set! profiles (1+ profiles))
            (load-profile (get-string-n (current-input-port) (string->number (cadr words))) '())
            (unless (report-problems (format #f "profile ~a" profiles)) (set! flawed (1+ flawed)))))))
    (format #t "~a profiles, ~a flawed~%" profiles flawed)
    (exit (if (and (= flawed 0) (> profiles 0)) 0 1))))

(let ((words (cdr (command-line))))
  (cond ((null? words) (exit 2))
        ((string=? (car words) "lint") (command-lint (cdr words)))
        ((string=? (car words) "recorded") (command-recorded))
        ((string=? (car words) "lint-stream") (command-lint-stream))
        ((string=? (car words) "ask") (command-ask (cadr words) (cddr words)))
        ((string=? (car words) "table") (command-table (cadr words) (cddr words)))
        ((string=? (car words) "compare") (set! chars? (and (pair? (cdr words)) (string=? (cadr words) "chars"))) (command-compare))
        (else (exit 2))))
