{% extends "job.sh" %}
{% set prefix, index = "#BSUB", "$LSB_JOBINDEX" %}
{% macro directives(need) %}
#BSUB -n 1
#BSUB -W {{ need.hours_and_minutes }}
#BSUB -M {{ need.megabytes }}MB
#BSUB -R "rusage[mem={{ need.megabytes }}MB]"
{%- endmacro %}
{% block submit %}
after=
for range in $(echo "$parts" | tr , ' '); do # an array for each range: the name of one has at most 255 characters
    id=$(bsub -J "tcdp-sim[$range]" -o "$jobs/part-%I.log" < "$jobs/part.sh" | sed -n 's/^Job <\([0-9]*\)>.*/\1/p')
    after="$after${after:+ && }ended($id)"
done
bsub -J tcdp-sim-finish -w "$after" -o "$jobs/finish.log" < "$jobs/finish.sh"
{% endblock %}
